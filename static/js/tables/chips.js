/* Animations of chips and wins: chips land on a bet or move between bets and the house; wins
   count up. */

import { setText } from "../common/dom.js";
import { wantsMotion } from "../common/preferences.js";

const FLIGHT = 360; // milliseconds for chips to move between a bet and the house
const COUNT_UP = 600; // milliseconds for a win to count up
const COUNTS = 12; // texts on the way: each is a layout
const RISE = 700; // for the sum of a chip to rise from its bet
const BACK = 640; // for a refused chip to shake its head and go back to the tray
const SHORTEST = 3; // digits of the shortest amount: 0.00

const chosenChip = () => document.querySelector("[name=chip]:checked + .chip");

/** Count an amount up to its text, in its own notation: only digits change, without leading
    zeros. */
export function countUp(element, signal) {
  const text = element.textContent;
  const digits = text.replace(/\D/g, "");
  const begin = performance.now();
  let shownShare = -1;
  const frame = (now) => {
    const passed = signal?.aborted ? 1 : Math.min(1, Math.max(0, now - begin) / COUNT_UP);
    const share = Math.floor(passed * COUNTS) / COUNTS;
    if (share < 1) requestAnimationFrame(frame);
    if (share === shownShare) return;
    shownShare = share;
    const shown = String(Math.round(Number(digits) * share)).padStart(digits.length, "0");
    const zeros = Math.min(shown.search(/[1-9]|$/), digits.length - SHORTEST);
    let next = -1;
    const counted = text.replace(/\d(\D*)/g, (_, sign) => {
      next += 1;
      return next < zeros ? "" : shown[next] + sign;
    });
    setText(element, counted);
  };
  frame(begin);
}

/** Return where the house sits: above the cards; at Chemin de Fer, at the bank between the
    hands. */
function houseBox() {
  const seats = document.querySelectorAll(".stage .hand, .middle .bank");
  const [first, ...others] = Array.from(seats, (seat) => seat.getBoundingClientRect());
  const right = Math.max(first.right, ...others.map((box) => box.right));
  return { left: first.left, top: first.top, width: right - first.left };
}

/** Animate copies of stacks of chips: lost ones to the house, won ones from it. Nothing waits for this animation. */
export function fly(lost, won) {
  const house = houseBox();
  const flights = [...lost, ...won].map((stack, index) => {
    const box = stack.getBoundingClientRect();
    const across = house.left + house.width / 2 - box.left - box.width / 2;
    const away = { transform: `translate(${across}px, ${house.top - box.top}px) scale(0.7)`, opacity: 0 };
    const there = { transform: "none", opacity: 1 };
    const width = getComputedStyle(stack).getPropertyValue("--chip-w");
    return { stack, box, width, way: index < lost.length ? [there, away] : [away, there] };
  }); // all are measured before any is animated
  for (const { stack, box, width, way } of flights) {
    const copy = flying(stack.cloneNode(true), box, "flight");
    copy.style.setProperty("--chip-w", width);
    const flight = copy.animate(way, { duration: FLIGHT, easing: "ease-in-out" });
    flight.onfinish = () => copy.remove();
  }
}

/** Lost chips move to the house, won chips come from it. */
export const moveChips = (bets) =>
  fly(bets.querySelectorAll(".spot__bet--lose .stack"), bets.querySelectorAll(".spot__bet--win .stack"));

/** Show the chip on its bet before the server accepts it, in place of the bet of the last round if that is still
    there; the answer replaces the bet anyway. */
export function dropChip(spot) {
  const chip = chosenChip();
  if (!chip) return;
  riseSum(spot, "+"); // first, while nothing has changed: it measures
  if (!spot.querySelector(".spot__bet--open")) {
    for (const last of spot.querySelectorAll(".spot__bet")) last.hidden = true;
    const place = spot.querySelector(".game__part") ?? spot;
    place.insertAdjacentHTML(
      "beforeend",
      '<span class="spot__bet spot__bet--open spot__bet--landing"><span class="stack"></span></span>',
    );
  }
  const stack = spot.querySelector(".spot__bet--open .stack");
  const copy = chip.cloneNode(true);
  copy.classList.add("chip--landing");
  stack.append(copy);
}

/** A refused chip goes back from its bet to the tray; the reason is on the felt. */
export function returnChip(spot) {
  removeLandingChips();
  toTray(spot, [
    { offset: 0.12, across: -6 },
    { offset: 0.24, across: 6 },
    { offset: 0.34, across: 0 },
  ]);
}

/** A chip that is taken off a bet goes to the tray, and its sum into the air. */
export function takeChip(spot) {
  if (!spot.querySelector(".spot__bet--open")) return;
  toTray(spot, []);
  riseSum(spot, "−");
}

/** Animate the chosen chip from a bet to the tray; first it moves aside as *shakes* say. */
function toTray(spot, shakes) {
  const chip = chosenChip();
  if (!chip || !spot || !wantsMotion()) return;
  const [from, to] = [spot.getBoundingClientRect(), chip.getBoundingClientRect()];
  const copy = flying(chip.cloneNode(true), to, shakes.length ? "flight flight--refused" : "flight");
  copy.style.setProperty("--chip-w", `${to.width}px`);
  const across = from.left + from.width / 2 - to.left - to.width / 2;
  const down = from.top + from.height * 0.7 - to.top - to.height / 2;
  const aside = (by) => `translate(${across + by}px, ${down}px)`;
  const flight = copy.animate(
    [
      { transform: aside(0) },
      ...shakes.map((shake) => ({ transform: aside(shake.across), offset: shake.offset })),
      { transform: "none" },
    ],
    { duration: shakes.length ? BACK : FLIGHT, easing: "ease-out" },
  );
  flight.onfinish = () => copy.remove();
}

/** Let the sum of the chosen chip rise from a bet. */
function riseSum(spot, sign) {
  const chip = chosenChip();
  if (!chip || !wantsMotion()) return;
  const { left, top, width, height } = spot.getBoundingClientRect();
  const sum = flying(
    `${sign}${chip.textContent}`,
    { left: left + width / 2, top: top + height / 2 },
    "flight flight--sum",
  );
  const rise = sum.animate(
    { translate: ["-50% -20%", "-50% -160%"], opacity: [1, 1, 0] },
    { duration: RISE, easing: "ease-out" },
  );
  rise.onfinish = () => sum.remove();
}

function flying(content, { left, top }, className) {
  const element = document.createElement("div");
  element.className = className;
  element.ariaHidden = "true";
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
  element.append(content);
  document.body.append(element);
  return element;
}

/** Show which bets refuse the chosen chip, and which chips are too small to open a main bet. */
export function showFit() {
  const chosen = Number(document.querySelector("[name=chip]:checked")?.value ?? 0);
  const opens = [];
  for (const spot of document.querySelectorAll(".spots .spot")) {
    const stake = Number(spot.querySelector(".spot__bet--open")?.dataset.stake ?? 0);
    const [from, to] = [Number(spot.dataset.from), Number(spot.dataset.to)];
    spot.toggleAttribute("data-refuses", stake + chosen < from || stake + chosen > to);
    if (!spot.classList.contains("spot--side")) opens.push(from);
  }
  const least = Math.min(...opens);
  for (const chip of document.querySelectorAll(".tray__chip")) {
    chip.classList.toggle("tray__chip--small", Number(chip.querySelector("input").value) < least);
  }
}

/** Remove chips that dropChip showed and no answer confirmed. */
export function removeLandingChips() {
  for (const chip of document.querySelectorAll(".chip--landing, .spot__bet--landing")) chip.remove();
  for (const last of document.querySelectorAll(".spot__bet[hidden]")) last.hidden = false;
}

// Only a mouse drags chips: what does it is loaded when one comes near them.
document.addEventListener("pointerover", function load({ pointerType, target }) {
  if (pointerType !== "mouse" || !target.closest(".tray")) return;
  document.removeEventListener("pointerover", load);
  import("./drag.js");
});
