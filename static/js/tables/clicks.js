/* Clicks at any table that the browser itself would get wrong. */

let pressed = null; // the control that the mouse went down on

// Enter on a chip would submit the form, which presses no button.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.name === "chip") event.preventDefault();
});

// An answer that arrives while the mouse button is down replaces the control under it, and the browser then sends no
// click: the click is for the control with the same id that is there now.
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
