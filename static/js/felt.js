/* What happens at every table, whatever shape it has: chips that land and fly, amounts that run up, what is told to a screen
   reader, the time and money of the session in the header, presses that an answer overtakes. */
"use strict";

const FLIGHT = 360; // milliseconds that chips take between a bet and the house
const COUNT_UP = 600; // milliseconds that WIN takes to count up
const MOST_TOLD = 200; // that a page remembers to have told
const SHORTEST = 3; // digits that any amount has: 0.00

const spoken = document.getElementById("spoken");
let pressedDown = null; // the control that the mouse went down on

// --- What is told ---------------------------------------------------------------------------------------------------------

function say(text) {
  const line = document.createElement("p");
  line.textContent = text;
  spoken.append(line);
  while (spoken.childElementCount > 20) spoken.firstElementChild.remove();
}

/** Return what tells what is new in a part of a shared table, in its own order and each once; *round* returns the one that
    is on the table. What is told silently stood there when the page came. */
function teller(round) {
  const told = new Set();
  const nameOf = ({ dataset }) => `${dataset.of ?? round()} ${dataset.due ?? ""} ${dataset.say}`;

  return (part, isSilent) => {
    for (const element of part.querySelectorAll("[data-say]")) {
      const name = nameOf(element);
      if (told.has(name)) continue;
      told.add(name);
      if (!isSilent) say(element.dataset.say);
    }
    for (const name of told) {
      if (told.size <= MOST_TOLD) break;
      told.delete(name);
    }
  };
}

/** Let an amount run up to what it says, in its own notation: only the digits change, and none leads that is nought. */
function countUp(element, signal) {
  const text = element.textContent;
  const digits = text.replace(/\D/g, "");
  const begin = performance.now();
  const frame = (now) => {
    const share = signal.aborted ? 1 : Math.min(1, Math.max(0, now - begin) / COUNT_UP);
    const shown = String(Math.round(Number(digits) * share)).padStart(digits.length, "0");
    const noughts = Math.min(shown.search(/[1-9]|$/), digits.length - SHORTEST);
    let next = -1;
    element.textContent = text.replace(/\d(\D*)/g, (_, sign) => (++next < noughts ? "" : shown[next] + sign));
    if (share < 1) requestAnimationFrame(frame);
  };
  frame(begin);
}

// --- Chips ------------------------------------------------------------------------------------------------------------------

/** Where the house sits: above the cards; where guests play each other, the bank between the hands. */
function houseBox() {
  const seats = document.querySelectorAll(".stage .hand, .middle .bank");
  const [first, ...others] = Array.from(seats, (seat) => seat.getBoundingClientRect());
  const right = Math.max(first.right, ...others.map((box) => box.right));
  return { left: first.left, top: first.top, width: right - first.left };
}

/** Send a copy of a bet's chips between the bet and the house, which sits above the cards. Nothing waits for it. */
function fly(stack, toHouse) {
  const bet = stack.getBoundingClientRect();
  const house = houseBox();
  const away = {
    transform: `translate(${house.left + house.width / 2 - bet.left - bet.width / 2}px, ${house.top - bet.top}px) scale(0.7)`,
    opacity: 0,
  };
  const there = { transform: "none", opacity: 1 };
  const copy = document.createElement("div");
  copy.className = "flight";
  copy.ariaHidden = "true";
  copy.style.left = `${bet.left}px`;
  copy.style.top = `${bet.top}px`;
  copy.style.setProperty("--chip-w", getComputedStyle(stack).getPropertyValue("--chip-w"));
  copy.append(stack.cloneNode(true));
  document.body.append(copy);
  const flight = copy.animate(toHouse ? [there, away] : [away, there], { duration: FLIGHT, easing: "ease-in-out" });
  flight.onfinish = () => copy.remove();
}

/** What is lost goes to the house, what is won comes from there. */
function moveChips(bets) {
  for (const stack of bets.querySelectorAll(".spot__bet--lose .stack")) fly(stack, true);
  for (const stack of bets.querySelectorAll(".spot__bet--win .stack")) fly(stack, false);
}

/** Show the chip on its bet before the server has said yes; the answer replaces the whole table anyway. */
function dropChip(spot) {
  if (!spot.querySelector(".spot__bet")) {
    spot.insertAdjacentHTML("beforeend", '<span class="spot__bet spot__bet--open"><span class="stack"></span></span>');
  }
  const chip = document.querySelector("[name=chip]:checked + .chip");
  const stack = spot.querySelector(".spot__bet--open .stack");
  if (!chip || !stack) return;
  const copy = chip.cloneNode(true);
  copy.classList.add("chip--landing");
  stack.append(copy);
}

// --- Presses ----------------------------------------------------------------------------------------------------------------

// Enter on a chip would send the form: it presses no button there.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.name === "chip") event.preventDefault();
});

// An answer that comes while the mouse button is down replaces the control under it, and the browser then knows of no
// click: it is meant for the control that now stands in its place.
const controlAt = (event) => event.target.closest?.(":is(#game, #live) :is(button, input)[id]");

document.addEventListener("pointerdown", (event) => {
  pressedDown = event.pointerType === "mouse" && event.button === 0 ? controlAt(event) : null;
}, true);

document.addEventListener("pointerup", (event) => {
  const control = controlAt(event);
  if (pressedDown && !pressedDown.isConnected && control?.id === pressedDown.id) control.click();
  pressedDown = null;
}, true);

// --- Time and money of the session ------------------------------------------------------------------------------------------

let clockAhead = 0; // milliseconds that the house's clock is ahead of this one

/** Have the house's clock run on between two answers. */
function tickSitting() {
  const { began, zone } = document.getElementById("sitting").dataset;
  const now = Date.now() + clockAhead;
  const minutes = Math.floor((now - Date.parse(began)) / 60_000);
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone });
  document.getElementById("sitting-clock").textContent = time.format(now);
  document.getElementById("sitting-lasted").textContent = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

/** Set the clock by the answer that has just come. */
function setSittingClock() {
  const line = document.getElementById("sitting");
  if (line) clockAhead = Date.parse(line.dataset.now) - Date.now();
}

/** Put the reality check in front of the table: it waits for an answer, not for Escape. */
function showCheck(check) {
  check.close();
  check.addEventListener("cancel", (event) => event.preventDefault());
  check.showModal();
}

/** Show the reality check if the server has sent one. In a frame, the page around it shows one check for all its tables. */
function askForCheck() {
  const check = document.getElementById("check");
  if (!check || check.matches(":modal")) return;
  if (document.dispatchEvent(new CustomEvent("live:check", { cancelable: true }))) showCheck(check);
}

if (document.getElementById("sitting")) {
  setSittingClock();
  setInterval(tickSitting, 1000);
}
