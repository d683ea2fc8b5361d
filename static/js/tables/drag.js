/* Chips that a mouse drags from the tray to a bet. A dropped chip presses the bet area, as a click
   does; one that is dropped elsewhere goes back. Nothing else decides. */

import { wantsMotion } from "../common/preferences.js";

const FAR = 8; // pixels after which a press is a drag
const BACK = 260; // milliseconds

let held = null; // the pressed chip, where it was pressed, and its copy once it is dragged

const spotAt = (x, y) => document.elementFromPoint(x, y)?.closest(".spots .spot") ?? null;

function lift() {
  const input = held.chip.querySelector("input");
  if (!input.checked) input.click();
  const box = held.chip.querySelector(".chip").getBoundingClientRect();
  const copy = document.createElement("div");
  copy.className = "flight flight--held";
  copy.ariaHidden = "true";
  copy.style.left = `${box.left}px`;
  copy.style.top = `${box.top}px`;
  copy.style.setProperty("--chip-w", `${box.width}px`);
  copy.append(held.chip.querySelector(".chip").cloneNode(true));
  document.body.append(copy);
  held.copy = copy;
}

function highlight(spot) {
  for (const each of document.querySelectorAll(".spot--over")) if (each !== spot) each.classList.remove("spot--over");
  spot?.classList.add("spot--over");
}

function move(event) {
  if (!held) return;
  const [across, down] = [event.clientX - held.x, event.clientY - held.y];
  if (!held.copy && Math.hypot(across, down) < FAR) return;
  if (!held.copy) lift();
  held.copy.style.setProperty("transform", `translate(${across}px, ${down}px)`);
  highlight(spotAt(event.clientX, event.clientY));
}

/** Release the chip: on a bet area it is placed, elsewhere it goes back. */
function drop(event, isLaid) {
  const { copy } = held ?? {};
  held = null;
  highlight(null);
  if (!copy) return;
  const spot = isLaid ? spotAt(event.clientX, event.clientY) : null;
  if (spot) spot.click();
  if (spot || !wantsMotion()) {
    copy.remove();
    return;
  }
  const flight = copy.animate({ transform: [copy.style.transform, "none"] }, { duration: BACK, easing: "ease-out" });
  flight.onfinish = () => copy.remove();
}

document.addEventListener("pointerdown", (event) => {
  const chip = event.target.closest?.(".tray__chip");
  if (chip && event.pointerType === "mouse" && event.button === 0) {
    held = { chip, x: event.clientX, y: event.clientY, copy: null };
  }
});
document.addEventListener("pointermove", move);
document.addEventListener("pointerup", (event) => drop(event, true));
document.addEventListener("pointercancel", (event) => drop(event, false));
document.addEventListener("dragstart", (event) => {
  if (held) event.preventDefault();
});
document.documentElement.classList.add("drags");
