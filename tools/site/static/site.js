// What scrolls in itself can be scrolled with the keyboard, too.
const NAMES = { PRE: WORDS.code, DIV: WORDS.table, FIGURE: WORDS.picture };
const BOXES = "pre, .table-wrapper, .formula, figure.picture";

function reachable() {
  for (const box of document.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", NAMES[box.tagName]);
    } else if (box.getAttribute("role") === "group") {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
}

reachable();
addEventListener("resize", reachable);

// A picture that is wider than the screen fades at its edge, and a tap shows the whole of it.
for (const box of document.querySelectorAll("figure.picture")) {
  const image = box.querySelector("img");
  const whole = document.createElement("a");
  whole.className = "whole";
  whole.textContent = WORDS.whole;
  whole.lang = document.documentElement.lang;
  const look = () => {
    whole.href = image.currentSrc || image.src;
    whole.hidden = box.scrollWidth <= box.clientWidth;
    box.classList.toggle("cut", box.scrollLeft + box.clientWidth < box.scrollWidth - 8);
  };
  box.after(whole);
  box.addEventListener("scroll", look);
  box.addEventListener("click", ({ target }) => {
    if (!whole.hidden && !target.closest("a")) whole.click();
  });
  image.addEventListener("load", look);
  new ResizeObserver(look).observe(box);
  look();
}

// The other language opens where one was reading: cells and headings have the same names in both.
const PLACES = "article section[id], article [id^=cell-]";
for (const link of document.querySelectorAll("a.language")) {
  link.addEventListener("click", () => {
    const above = [...document.querySelectorAll(PLACES)].filter(
      (one) => one.getBoundingClientRect().top < 70,
    );
    link.hash = scrollY > 200 && above.length ? above[above.length - 1].id : "";
  });
}

// A long table of rows can be searched.
for (const table of document.querySelectorAll("table.rows")) {
  const field = document.createElement("input");
  field.type = "search";
  field.className = "filter";
  field.placeholder = WORDS.filter;
  field.setAttribute("aria-label", WORDS.filter);
  field.addEventListener("input", () => {
    const asked = field.value.trim().toLowerCase();
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(asked);
    }
  });
  table.before(field);
}

// Print shows the hints as they are on the screen, every picture, seen or not, and every answer.
const answers = document.querySelectorAll("details.answer");
let waiting = [];
addEventListener("beforeprint", () => {
  for (const picture of document.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
  waiting = [...answers, ...document.querySelectorAll("details.numbers")].filter((one) => !one.open);
  for (const one of waiting) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of waiting) one.open = false;
});

// A button below the title opens all of these, or closes them again, and tells `chosen` which.
function offerAll(folds, show, hide, chosen = () => {}) {
  const title = document.querySelector("article h1");
  if (!folds.length || !title) return;
  const button = document.createElement("button");
  button.className = "open-all";
  button.lang = document.documentElement.lang; // also on a page that is not translated
  const label = () => {
    const open = [...folds].every((fold) => fold.open);
    button.textContent = open ? hide : show;
    return open;
  };
  button.addEventListener("click", () => {
    const open = label();
    for (const fold of folds) fold.open = !open;
    label();
    chosen(!open);
  });
  for (const fold of folds) {
    fold.addEventListener("toggle", () => {
      label();
      reachable();
    });
  }
  label();
  title.after(button);
}

// Whoever reads with all answers open does so on every page. A browser may refuse to remember it.
function remembered(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name) === "open";
    localStorage.setItem(name, value ? "open" : "closed");
  } catch {
    return false;
  }
}

if (remembered("answers")) for (const one of answers) one.open = true;
offerAll(answers, WORDS.showAnswers, WORDS.hideAnswers, (open) => remembered("answers", open));
offerAll(document.querySelectorAll("details.closed-code"), WORDS.showCode, WORDS.hideCode);
