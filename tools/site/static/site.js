// What scrolls in itself can be scrolled with the keyboard, too.
const NAMES = { PRE: WORDS.code, DIV: WORDS.table, FIGURE: WORDS.picture };
const BOXES = "pre, .table-wrapper, .formula, figure.picture, .explorer-picture";

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

// Print shows the hints as they are on the screen, and every picture, seen or not.
addEventListener("beforeprint", () => {
  for (const picture of document.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
});

// A button below the title opens the code of all steps, or closes it again.
function offerAllCode() {
  const steps = document.querySelectorAll("details.closed-code");
  const title = document.querySelector("article h1");
  if (!steps.length || !title) return;
  const button = document.createElement("button");
  button.className = "all-code";
  button.lang = document.documentElement.lang; // also on a page that is not translated
  const label = () => {
    const open = [...steps].every((step) => step.open);
    button.textContent = open ? WORDS.hideCode : WORDS.showCode;
    return open;
  };
  button.addEventListener("click", () => {
    const open = label();
    for (const step of steps) step.open = !open;
    label();
  });
  for (const step of steps) {
    step.addEventListener("toggle", () => {
      label();
      reachable();
    });
  }
  label();
  title.after(button);
}

offerAllCode();
