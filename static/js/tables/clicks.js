/* Clicks at any table: those that the browser would handle wrongly, their idempotency keys, and their answers. */

import { showBanner } from "../common/banner.js";
import { parseFragment } from "../common/dom.js";

let pressed = null; // the control on which the mouse was pressed

// Enter on a chip would submit the form, which presses no button.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.name === "chip") event.preventDefault();
});

// A key that is held down would press its button again and again: each round, and each chip, takes a press.
document.addEventListener(
  "keydown",
  (event) => {
    if (event.repeat && event.key === "Enter" && event.target.closest?.("button[name=action]")) event.preventDefault();
  },
  true,
);

// An answer that arrives while the mouse button is down replaces the control under it, and the
// browser then sends no click. The click goes to the new control with the same id.
const controlOf = (event) => event.target.closest?.(":is(#game, #live) :is(button, input)[id]");

document.addEventListener(
  "pointerdown",
  (event) => {
    pressed = event.pointerType === "mouse" && event.button === 0 ? controlOf(event) : null;
  },
  true,
);

document.addEventListener(
  "pointerup",
  (event) => {
    const control = controlOf(event);
    if (pressed && !pressed.isConnected && control?.id === pressed.id) control.click();
    pressed = null;
  },
  true,
);

// --- Idempotency keys ---------------------------------------------------------------------------

// A browser may send a click twice when a connection breaks, and a reader may repeat a click without an answer. Each
// click has a new key; after a click without an answer, the next one repeats its key. See games/betting/idempotency.py.
let key = null;

function createKey() {
  const [high, low] = crypto.getRandomValues(new BigUint64Array(2));
  return ((high << 64n) | low).toString(16).padStart(32, "0");
}

document.addEventListener("htmx:configRequest", ({ detail: { parameters } }) => {
  if (parameters.idempotency_key === undefined) return;
  key ??= createKey();
  parameters.idempotency_key = key;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.parameters.idempotency_key === key) key = null;
});

// --- Answers: htmx would send two events for each element that leaves the page --------------------

let left = ""; // id of the control with the focus that an answer has replaced

/** Let *show*(answer) take the place of htmx's swap of clicks, unless it returns false. */
export function followAnswers(isClick, show) {
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { detail } = event;
    if (isClick(event) && detail.shouldSwap && show(parseFragment(detail.serverResponse)) !== false)
      detail.shouldSwap = false;
  });
}

/** Put the parts of an answer in their places. The part with the focus comes first: to lose it costs the browser a style
    of all that has changed before. */
export function place(parts) {
  const focused = parts.find(({ id }) => document.getElementById(id)?.contains(document.activeElement));
  if (focused) left = document.activeElement.id;
  for (const part of new Set([focused ?? parts[0], ...parts])) {
    const before = document.getElementById(part.id);
    part.removeAttribute("hx-swap-oob");
    if (part.id === "banner") showBanner(part);
    else if (before && !before.isEqualNode(part)) {
      before.replaceWith(part);
      if (part.querySelector("[hx-get], [hx-post]")) htmx.process(part);
    }
  }
}

/** Focus the control in the place of the one that has left. */
export function focusAgain() {
  if (left && document.activeElement.id !== left) document.getElementById(left)?.focus({ preventScroll: true });
  left = "";
}
