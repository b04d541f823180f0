// Explorers that move without a kernel: their pictures were drawn when the site was built.
//
// A figure of class "explorer" holds hidden controls, the first picture, and, as JSON, every setting
// with its picture and its words. Each control counts through the values that occur, so the state is
// one place for each control: setting.at. The picture on the page always is that of the controls.
// What is said to the reader is in WORDS, from words.py.

(() => {
  "use strict";

  const SPEAK_AFTER = 600; // milliseconds of rest, so that a dragged slider is not read out on its way
  const NEAR = "400px"; // so far below the window, an explorer begins to fetch

  // The setting that has the value just chosen, and else differs least from the one before: in the
  // fewest other controls, and in these by the smallest part of their ranges.
  function nearest(explorer, before, control, place) {
    const cost = (setting) => {
      let moved = 0;
      let distance = 0;
      setting.at.forEach((here, other) => {
        if (other === control || here === before.at[other]) return;
        moved += 1;
        distance += howFar(explorer.controls[other], here, before.at[other]);
      });
      return moved + distance / (explorer.controls.length + 1); // of the distances, each is at most 1
    };
    const possible = explorer.settings.filter((setting) => setting.at[control] === place);
    return possible.reduce((best, setting) => (cost(setting) < cost(best) ? setting : best));
  }

  function howFar(control, one, other) {
    const values = control.kind === "slider" ? control.values : control.values.map((_, i) => i);
    return Math.abs(values[one] - values[other]) / (values[values.length - 1] - values[0]);
  }

  // In plain words, which controls had to move along with the one that the reader moved.
  function movedAlong(explorer, before, setting, control) {
    const moved = explorer.controls
      .map((other, i) => ({ other, i }))
      .filter(({ i }) => i !== control && setting.at[i] !== before.at[i])
      .map(({ other, i }) =>
        filled(WORDS.isNow, { label: other.label, text: other.texts[setting.at[i]] }),
      );
    return moved.length ? filled(WORDS.movedAlong, { moved: moved.join(WORDS.and) }) : "";
  }

  // A sentence of words.py with what stands in braces.
  function filled(sentence, values) {
    return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  function bringToLife(figure) {
    const explorer = JSON.parse(figure.querySelector("script").textContent);
    const inputs = [...figure.querySelectorAll("[data-control]")];
    const image = figure.querySelector("img");
    const phone = matchMedia("(max-width: 40em)"); // it has frames of its own
    const note = figure.querySelector(".explorer-note");
    const spoken = figure.querySelector(".explorer-spoken");
    const pictures = new Map(); // by name: a promise of a picture that is ready to be shown
    let shown = explorer.settings[explorer.start];
    let chosen = shown;
    let showing = false;
    let speaking = 0;

    function fetched({ frame }) {
      const name = phone.matches ? `narrow/${frame}` : frame;
      if (!pictures.has(name)) {
        const picture = new Image();
        picture.src = figure.dataset.frames + name;
        const ready = picture.decode().then(() => picture.src);
        ready.catch(() => pictures.delete(name)); // it may be there the next time
        pictures.set(name, ready);
      }
      return pictures.get(name);
    }

    function setControls(setting) {
      for (const input of inputs) {
        const control = Number(input.dataset.control);
        const place = setting.at[control];
        const { kind, values, texts } = explorer.controls[control];
        if (kind === "switch") {
          input.checked = values[place];
        } else {
          input.value = place;
        }
        if (kind === "slider") {
          input.setAttribute("aria-valuetext", texts[place]);
          input.nextElementSibling.textContent = texts[place];
        }
      }
    }

    function say(words) {
      note.textContent = words;
      clearTimeout(speaking);
      speaking = setTimeout(() => {
        spoken.textContent = `${words} ${image.alt}`.trim();
      }, SPEAK_AFTER);
    }

    // One picture is fetched at a time. If the reader has moved on meanwhile, it is not shown.
    async function show(words) {
      say(words);
      if (showing) return;
      showing = true;
      figure.setAttribute("aria-busy", "true");
      while (shown !== chosen) {
        const next = chosen;
        try {
          const source = await fetched(next);
          if (next !== chosen) continue;
          figure.querySelector("source")?.remove();
          image.src = source;
          image.alt = next.alt;
          image.lang = "en"; // the first may have been translated
          const size = phone.matches ? explorer.narrow : [next.width, next.height];
          [image.width, image.height] = size;
          shown = next;
          say(note.textContent);
        } catch {
          if (next !== chosen) continue;
          chosen = shown;
          setControls(shown);
          say(WORDS.notLoaded);
        }
      }
      figure.removeAttribute("aria-busy");
      showing = false;
      fetchNeighbours();
    }

    function move(input) {
      const control = Number(input.dataset.control);
      const { kind, values } = explorer.controls[control];
      const place = kind === "switch" ? values.indexOf(input.checked) : Number(input.value);
      const before = chosen;
      chosen = nearest(explorer, before, control, place);
      setControls(chosen);
      show(movedAlong(explorer, before, chosen, control));
    }

    // What one step of one control would show next.
    function fetchNeighbours() {
      if (navigator.connection?.saveData) return;
      explorer.controls.forEach(({ values }, control) => {
        for (const place of [shown.at[control] - 1, shown.at[control] + 1]) {
          if (place in values) {
            fetched(nearest(explorer, shown, control, place)).catch(() => {});
          }
        }
      });
    }

    setControls(shown); // a browser that returns to a page may have kept other values
    for (const input of inputs) input.addEventListener("input", () => move(input));
    figure.querySelector(".explorer-controls").hidden = false;
    new IntersectionObserver((entries, observer) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      fetchNeighbours();
    }, { rootMargin: NEAR }).observe(figure);
  }

  document.querySelectorAll("figure.explorer").forEach(bringToLife);
})();
