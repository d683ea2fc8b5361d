/* Reloads the figures of the dashboard. What the reader has unfolded stays open, and the focus
   stays. A part is identified by its section and its position in it, since parts above may come
   or go. */

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
