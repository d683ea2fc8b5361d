// The page asks for its figures by itself: what the reader has unfolded stays so, and the focus where it was. A part is
// known by the section that it stands in and its place there, since others may come or go above it.

const PARTS = "a, summary";

let unfolded = new Set();
let focused = "";

const dashboard = () => document.getElementById("dashboard");
const parts = () => [...dashboard().querySelectorAll(PARTS)];

function keyOf(part) {
  const section = part.closest("section[aria-labelledby]") ?? dashboard();
  const place = [...section.querySelectorAll(PARTS)].indexOf(part);
  return `${section.getAttribute("aria-labelledby") ?? ""} ${place}`;
}

document.addEventListener("htmx:beforeSwap", () => {
  const open = parts().filter((part) => part.matches("details[open] > summary"));
  unfolded = new Set(open.map(keyOf));
  focused = dashboard().contains(document.activeElement) ? keyOf(document.activeElement) : "";
});

document.addEventListener("htmx:afterSwap", () => {
  for (const part of parts()) {
    const key = keyOf(part);
    if (unfolded.has(key)) {
      part.parentElement.open = true;
    }
    if (key === focused) {
      part.focus({ preventScroll: true });
    }
  }
});
