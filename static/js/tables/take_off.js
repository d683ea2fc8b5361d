/* Take one chip off a bet: right click, long press, wipe, Delete or Shift+Enter on a bet area press a button that is
   out of sight. */

const LONG_PRESS = 500; // milliseconds
const WIPE = 36; // pixels that a finger wipes across a bet
const STILL = 10; // pixels that a resting finger may move

/** Return the button that sends an action. */
export function buttonFor(action) {
  const { elements } = document.getElementById("slip");
  if (!action.startsWith("take:"))
    return Array.from(elements).find(({ name, value }) => name === "action" && value === action);
  elements["act-take"].value = action;
  return elements["act-take"];
}

const takeOff = ({ value }) => buttonFor(value.replace("bet:", "take:")).click();

/** Follow the bet areas that match *spots*. Call this before the page handles clicks: a finger that has taken a chip
    off lays none. */
export function followTakes(spots) {
  let longPress = null; // timer of a finger that rests on a bet area
  let swipe = null; // where a finger came down on a bet area
  let taken = null; // id of the bet area from which it has taken a chip

  const spotOf = ({ target }) => (target instanceof Element ? target.closest(spots) : null);
  const endTouch = () => clearTimeout(longPress);

  function take(spot) {
    taken = spot.id;
    takeOff(document.getElementById(spot.id) ?? spot); // an answer may have replaced it
  }

  document.addEventListener(
    "pointerdown",
    (event) => {
      taken = null;
      const spot = event.pointerType === "touch" ? spotOf(event) : null;
      swipe = spot && { spot, x: event.clientX, y: event.clientY };
      if (spot) longPress = setTimeout(() => take(spot), LONG_PRESS);
    },
    true,
  );
  document.addEventListener(
    "pointerup",
    (event) => {
      endTouch();
      const { spot, x, y } = swipe ?? {};
      swipe = null;
      if (spot && !taken && Math.abs(event.clientX - x) >= WIPE && Math.abs(event.clientY - y) <= WIPE) take(spot);
    },
    true,
  );
  document.addEventListener("pointercancel", endTouch, true);
  document.addEventListener(
    "pointermove",
    (event) => {
      if (Math.abs(event.movementX) + Math.abs(event.movementY) > STILL) endTouch();
    },
    true,
  );
  document.addEventListener("contextmenu", (event) => {
    const spot = spotOf(event);
    const isMouse = event.pointerType !== "touch" && (event.button === 2 || event.ctrlKey); // no key
    if (taken || (spot && (isMouse || event.pointerType === "touch"))) event.preventDefault();
    if (spot && isMouse) takeOff(spot);
  });
  document.addEventListener("keydown", (event) => {
    const isTake = event.key === "Delete" || event.key === "Backspace" || (event.key === "Enter" && event.shiftKey);
    if (!isTake || !event.target.closest?.(".spots .spot")) return;
    event.preventDefault(); // without a bet too, or the last press of several would lay a chip
    const spot = spotOf(event);
    if (spot && !event.repeat) takeOff(spot);
  });
  document.addEventListener(
    "click",
    (event) => {
      if (!taken || !event.isTrusted || event.target.closest?.(".spots .spot")?.id !== taken) return;
      taken = null;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
}
