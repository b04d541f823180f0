// What scrolls in itself can be scrolled with the keyboard, too.
const NAMES = { PRE: "Code or output", DIV: "Table or formula" };

function reachable() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, .formula")) {
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
