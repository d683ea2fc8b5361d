// The page asks for its figures by itself: what the reader has unfolded stays so, and the focus where it was.

const PARTS = "a, summary";

let unfolded = [];
let focused = -1;

const dashboard = () => document.getElementById("dashboard");
const parts = () => [...dashboard().querySelectorAll(PARTS)];

document.addEventListener("htmx:beforeSwap", () => {
  unfolded = [...dashboard().querySelectorAll("details")].map((each) => each.open);
  focused = parts().indexOf(document.activeElement);
});

document.addEventListener("htmx:afterSwap", () => {
  const details = [...dashboard().querySelectorAll("details")];
  if (details.length === unfolded.length) {
    details.forEach((each, place) => (each.open = each.open || unfolded[place]));
  }
  if (focused >= 0) {
    parts()[focused]?.focus({ preventScroll: true });
  }
});
