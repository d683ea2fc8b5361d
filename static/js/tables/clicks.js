/* Clicks at any table that the browser would handle wrongly. */

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
