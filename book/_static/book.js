// What is wider than the page scrolls sideways: it can be reached by keyboard and fades out where
// there is more. What fits is no tab stop.

const SCROLLING =
  ".picture, div.math, span.math, pre, .pst-scrollable-table-container, .output.text_html";
const NAMES = [["pre", "code or output"], [".picture", "figure"], [".math, mjx-container", "formula"]];
const MARKS = ["tabindex", "role", "aria-label", "data-scrolls"];

// Where a box stands: at its start, at its end, between them, or not scrolling at all
function position(box) {
  const room = box.scrollWidth - box.clientWidth;
  if (room <= 1 || box.clientWidth === 0 || getComputedStyle(box).overflowX === "visible") return null;
  if (box.scrollLeft <= 1) return "start";
  return box.scrollLeft >= room - 1 ? "end" : "middle";
}

function mark(box) {
  const where = position(box);
  if (where === null) {
    if ("scrolls" in box.dataset) for (const name of MARKS) box.removeAttribute(name);
    return;
  }
  if (!("scrolls" in box.dataset)) {
    const name = NAMES.find(([selector]) => box.matches(selector))?.[1] ?? "table";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${name}, scrolls sideways`);
  }
  box.dataset.scrolls = where;
}

// The box that scrolls: of a displayed formula the part beside its number, once it is set
const scroller = (box) => (box.matches("div.math") ? box.querySelector("mjx-container") : box);

// Formulas are set late, and their fonts come later still; boxes are opened, the screen is turned
const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const box = scroller(target.closest(SCROLLING) ?? target);
    if (box) mark(box);
  }
});
const boxes = [...document.querySelectorAll(SCROLLING)].filter((box) => box.closest(".bd-content"));
for (const box of boxes) {
  watcher.observe(box);
  for (const child of box.children) watcher.observe(child);
}
const setter = new MutationObserver((changes) => {
  for (const { target } of changes) {
    const box = scroller(target.closest(".math"));
    if (box) mark(box);
  }
});
for (const box of boxes) {
  if (box.matches(".math")) setter.observe(box, { childList: true, subtree: true });
}
document.fonts.addEventListener("loadingdone", () => {
  for (const box of boxes.map(scroller)) if (box) mark(box);
});
document.addEventListener("scroll", ({ target }) => {
  if (target.dataset?.scrolls) mark(target);
}, { capture: true, passive: true });

// The arrows that open a chapter's pages say whose they are
for (const arrow of document.querySelectorAll(".bd-links details > summary")) {
  const chapter = arrow.closest("li").querySelector("a").textContent.trim();
  arrow.setAttribute("aria-label", `Pages of ${chapter}`);
}

// Entries of the bibliography are items of a list; the role that they come with is out of use
for (const entry of document.querySelectorAll(".citation-list > .citation")) entry.setAttribute("role", "listitem");
