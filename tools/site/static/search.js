// Under each result of a search stands a line of its page, with what was asked for marked.
//
// The text of a page is a script in texts/, from texts.py: a list of [id of a heading, sentences,
// other lines]. It is fetched when its result comes into view. Everything is written as text, so
// that nothing that a page says, or a reader asks, becomes a part of this page.

const TEXTS = {};

(() => {
  "use strict";

  const HAN = /\p{Script=Han}/u;
  const WORD = /(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu;
  const LETTER = /(?!\p{Script=Han})[\p{L}\p{N}_]/u;
  const LETTERS = 110; // of a line; Han characters are twice as wide
  const stemmer = new Stemmer();
  const stems = new Map();
  const texts = new Map(); // by page: a promise of its text

  function stemOf(word) {
    if (!stems.has(word)) stems.set(word, stemmer.stemWord(word.toLowerCase()));
    return stems.get(word);
  }

  // The words that the search looks for, and the course's own words for them.
  function termsOf(query) {
    const [, , , words] = Search._parseQuery(query);
    const ours = OURS[query.trim().toLowerCase()] ?? [];
    return [[...words], ours.flatMap((word) => splitQuery(word.toLowerCase()))];
  }

  // Where a line has one of these terms, in order: { from, to, term }. As in the search itself, a
  // word is found by its stem, and by a part of it that is longer than two letters.
  function placesIn(line, terms) {
    const places = [];
    for (const term of terms.filter((one) => HAN.test(one))) {
      for (let at = line.indexOf(term); at >= 0; at = line.indexOf(term, at + 1)) {
        places.push({ from: at, to: at + term.length, term });
      }
    }
    const others = terms.filter((one) => !HAN.test(one));
    for (const { 0: word, index } of others.length ? line.matchAll(WORD) : []) {
      const stem = stemOf(word);
      const term = others.find((one) => {
        const asked = stemOf(one);
        return stem === asked || (asked.length > 2 && stem.includes(asked));
      });
      if (term) places.push({ from: index, to: index + word.length, term });
    }
    return places.sort((one, other) => one.from - other.from);
  }

  // The first stretch of a text that has the most of the terms; nothing where it has none.
  function best(lines, terms) {
    let found = null;
    for (const line of lines) {
      const places = placesIn(line, terms);
      const letters = HAN.test(line) ? LETTERS / 2 : LETTERS;
      for (const { from } of places) {
        const near = places.filter((one) => one.from >= from && one.to <= from + letters / 2);
        const count = new Set(near.map(({ term }) => term)).size;
        if (count > (found?.count ?? 0)) found = { line, places, from, letters, count };
        if (count === terms.length) return found;
      }
    }
    return found;
  }

  // Places that meet, as pairs of Han characters do, are one stretch.
  function joined(places) {
    const stretches = [];
    for (const { from, to } of places) {
      const last = stretches[stretches.length - 1];
      if (last && from <= last.to) last.to = Math.max(last.to, to);
      else stretches.push({ from, to });
    }
    return stretches;
  }

  // A part of a line that begins before `at`, and of words has none in part.
  function cut(line, at, letters) {
    let from = Math.max(0, at - Math.round(letters / 3));
    let to = Math.min(line.length, from + letters);
    const isInside = (place) => LETTER.test(line[place - 1] ?? "") && LETTER.test(line[place] ?? "");
    while (from < at && isInside(from)) from += 1;
    while (to > at + letters / 2 && isInside(to)) to -= 1;
    return { from, to };
  }

  // Of a page, or of what stands under one of its headings, a line that the title is not.
  function contextOf(parts, id, title, [asked, ours]) {
    const here = parts.filter(([heading]) => !id || heading === id);
    const lines = [1, 2].flatMap((kind) => here.flatMap((part) => part[kind]));
    const others = lines.filter((line) => !title.endsWith(line));
    const { line, places, from: at, letters } =
      best(others, asked) ?? best(others, ours) ?? { line: others[0] ?? "", places: [], from: 0, letters: LETTERS };
    const { from, to } = cut(line, at, letters);
    const context = document.createElement("p");
    context.className = "context";
    context.lang = HAN.test(line) ? document.documentElement.lang : "en";
    context.append(from > 0 ? "… " : "");
    let done = from;
    for (const stretch of joined(places)) {
      if (stretch.from < from || stretch.to > to) continue;
      const mark = document.createElement("mark");
      mark.textContent = line.slice(stretch.from, stretch.to);
      context.append(line.slice(done, stretch.from), mark);
      done = stretch.to;
    }
    context.append(line.slice(done, to), to < line.length ? " …" : "");
    return context;
  }

  function textOf(page) {
    if (!texts.has(page)) {
      const script = document.createElement("script");
      script.src = `${document.documentElement.dataset.content_root}texts/${page}.js`;
      const text = new Promise((done) => {
        script.onload = () => done(TEXTS[page]);
        script.onerror = () => done([]);
      });
      texts.set(page, text);
      document.head.append(script);
    }
    return texts.get(page);
  }

  const terms = termsOf(new URLSearchParams(location.search).get("q") ?? "");
  const inView = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        inView.unobserve(target);
        const link = target.querySelector("a");
        const [address, id] = link.getAttribute("href").split("#");
        const page = address.slice(0, -DOCUMENTATION_OPTIONS.LINK_SUFFIX.length);
        textOf(page).then((parts) => target.append(contextOf(parts, id, link.textContent, terms)));
      }
    },
    { rootMargin: "200px" },
  );
  const results = document.getElementById("search-results");
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node.tagName === "LI") inView.observe(node);
    }
  }).observe(results, { childList: true, subtree: true });
})();
