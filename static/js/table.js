/* The table: clicks in order and none twice, then the cards one after another.

   The server's answer holds the whole finished round. Elements carry the step they are due at (data-due: cards 1 to 6 in
   dealing order, 7 scores, 8 the winning areas, 9 the money); the style sheet hides them, from screen readers too, until
   `deal` marks them. data-until is the opposite; data-say is spoken and data-sound heard when its element is due. */
"use strict";

const PAUSES = { card: 440, third: 640, 7: 420, 8: 420, 9: 320 }; // milliseconds before a step
const THIRD_CARDS = 5;
const LAST_CARD = 6;
const RESULT = 8;
const DOUBLE_CLICK = 400; // milliseconds within which a second click is the same click

const LONG_PRESS = 500; // milliseconds
const STILL = 10; // pixels that a resting finger may move

const waiting = []; // values of the buttons pressed while an answer was under way
let underWay = null; // value of the button whose answer is awaited
let betBefore = ""; // what the table said of the bets when it was pressed
let dealing = null; // AbortController of the deal that runs: abort() shows the rest at once
let chosenChip = null;
let longPress = null; // timer of a finger that rests on a bet area
let heldDown = false; // whether it has rested there long enough

const theGame = () => document.getElementById("game");
const buttonFor = (action) => theGame().querySelector(`button[value="${action}"]`);
const isDeal = (action) => buttonFor(action)?.hasAttribute("data-deal");

// --- Dealing ------------------------------------------------------------------------------------------------------------

/** Wait, unless the rest is to be shown at once. */
function pause(milliseconds, signal) {
  if (signal.aborted) return null;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

const pauseBefore = (step) => (step > LAST_CARD ? PAUSES[step] : step >= THIRD_CARDS ? PAUSES.third : PAUSES.card);

function reveal(game, step, signal) {
  game.dataset.shown = step;
  for (const element of game.querySelectorAll(`[data-until="${step}"]`)) element.classList.add("is-past");
  for (const element of game.querySelectorAll(`[data-due="${step}"]`)) {
    element.classList.add("is-due");
    if (element.dataset.say) say(element.dataset.say);
    if (element.dataset.sound && !signal.aborted) playSound(element.dataset.sound);
    if ("count" in element.dataset && !signal.aborted) countUp(element, signal);
  }
  if (step === RESULT && !signal.aborted) moveChips(game);
  for (const element of sittingParts(`[data-until="${step}"]`)) element.classList.add("is-past");
  for (const element of sittingParts(`[data-due="${step}"]`)) element.classList.add("is-due");
}

/** While the cards come, the controls rest; a click shows the rest at once. */
function rest(game, isResting) {
  game.classList.toggle("game--busy", isResting);
  for (const group of game.querySelectorAll("[role=group].spots, [role=group].rail")) {
    if (isResting) group.setAttribute("aria-disabled", "true");
    else group.removeAttribute("aria-disabled");
  }
}

/** Deal a fresh round step by step; where motion is not wanted, everything is there at once. */
async function deal(game) {
  dealing = new AbortController();
  const { signal } = dealing;
  const begun = performance.now();
  if (!wantsMotion()) dealing.abort();
  rest(game, true);
  const steps = new Set(Array.from(game.querySelectorAll("[data-due]"), (element) => Number(element.dataset.due)));
  for (const step of [...steps].sort((a, b) => a - b)) {
    if (!signal.aborted) await pause(pauseBefore(step), signal);
    reveal(game, step, signal);
  }
  setTimeout(() => finish(game), Math.max(0, DOUBLE_CLICK - (performance.now() - begun)));
}

function finish(game) {
  dealing = null;
  game.classList.remove("game--fresh");
  rest(game, false);
  askForCheck();
}

// --- Time and money of the session --------------------------------------------------------------------------------------

/** Parts of the line in the header, which waits for the money as the meters do. */
const sittingParts = (parts) => document.querySelectorAll(`#sitting ${parts}`);

// --- Clicks ---------------------------------------------------------------------------------------------------------------

function press(event) {
  const button = event.target.closest("#game button[name=action], #game [name=chip]");
  if (dealing && event.target.closest("#game .felt, #game .rail")) {
    event.preventDefault();
    dealing.abort();
  } else if (button?.getAttribute("aria-disabled") === "true") {
    event.preventDefault();
  } else if (button?.name === "action") {
    send(event, button);
  }
}

/** Let the click through, or have it wait for the answer to the one before. */
function send(event, button) {
  if (underWay) {
    event.preventDefault();
    if (isDeal(waiting.at(-1) ?? underWay)) return; // what is clicked after DEAL belongs to no round
    waiting.push(button.value);
  }
  if (button.value.startsWith("bet:")) {
    playSound("chip");
    dropChip(button);
  } else if (button.value.startsWith("take:")) {
    playSound("chip");
  }
}

/** What the meter says of the bets; after a fresh round, what it says once the cards lie. */
function betTotal() {
  const meter = theGame().querySelector(".meter--bet");
  const name = meter.querySelector("[data-due]") ?? meter.querySelector(".meter__name");
  return `${name.textContent} ${meter.querySelector(".meter__sum").textContent}`;
}

/** The answer is on the page: tell what changed, deal if cards came, then take the next click that waited. */
function answered() {
  underWay = null;
  const game = theGame();
  const chip = game.querySelector(`[name=chip][value="${chosenChip}"]`);
  if (chip) chip.checked = true;
  if (game.querySelector(".call__notice--error")) waiting.length = 0;
  setSittingClock();
  if (game.classList.contains("game--fresh")) {
    waiting.length = 0;
    deal(game);
    return;
  }
  if (!dealing) askForCheck();
  if (betTotal() !== betBefore) say(betTotal());
  if (waiting.length) buttonFor(waiting.shift())?.click();
}

/** No answer came: whatever waited is dropped, and the table stands as the server last showed it. */
function unanswered() {
  underWay = null;
  waiting.length = 0;
  rest(theGame(), false);
  for (const chip of document.querySelectorAll(".chip--landing")) chip.remove();
}

// --- One chip off: right click, long press, Delete or Shift+Enter on a bet area ------------------------------------------

const spotOf = (event) => (event.target instanceof Element ? event.target.closest("#game .spots--take .spot") : null);

function takeOff(spot) {
  buttonFor(spot.value.replace("bet:", "take:")).click();
}

/** A finger that rests on a bet area takes a chip off; what the browser makes of the touch afterwards is no click. */
function beginTouch(event) {
  heldDown = false;
  const spot = event.pointerType === "touch" ? spotOf(event) : null;
  if (!spot) return;
  longPress = setTimeout(() => { heldDown = true; takeOff(spot); }, LONG_PRESS);
}

const endTouch = () => clearTimeout(longPress);

document.addEventListener("pointerdown", beginTouch, true);
document.addEventListener("pointerup", endTouch, true);
document.addEventListener("pointercancel", endTouch, true);
document.addEventListener("pointermove", (event) => {
  if (Math.abs(event.movementX) + Math.abs(event.movementY) > STILL) endTouch();
}, true);

document.addEventListener("contextmenu", (event) => {
  const spot = spotOf(event);
  if (!spot) return;
  event.preventDefault();
  if (event.pointerType !== "touch") takeOff(spot);
});

document.addEventListener("keydown", (event) => {
  const spot = spotOf(event);
  if (!spot || !(event.key === "Delete" || event.key === "Backspace" || (event.key === "Enter" && event.shiftKey))) return;
  event.preventDefault();
  takeOff(spot);
});

document.addEventListener("click", (event) => {
  if (heldDown && event.isTrusted && spotOf(event)) {
    heldDown = false;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);

document.addEventListener("click", press, true);

document.addEventListener("change", (event) => { if (event.target.name === "chip") chosenChip = event.target.value; });

document.addEventListener("htmx:beforeRequest", (event) => {
  const parameters = event.detail.requestConfig.parameters;
  underWay = parameters.action;
  betBefore = betTotal();
  if (isDeal(underWay)) rest(theGame(), true);
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) answered();
  else unanswered();
});

document.getElementById("again")?.addEventListener("click", () => {
  if (dealing) return;
  const game = theGame();
  delete game.dataset.shown;
  for (const element of game.querySelectorAll(".is-due, .is-past")) element.classList.remove("is-due", "is-past");
  game.classList.add("game--fresh");
  deal(game);
});

// A page that the browser kept while the reader was elsewhere shows a table that may have moved on.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

if (theGame().classList.contains("game--fresh")) deal(theGame());
else askForCheck();
