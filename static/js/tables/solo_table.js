/* A solo table: sends clicks in order and none twice, and deals the cards one after another.

   The server's answer contains the whole finished round, in parts that replace those of the page
   (fragments/solo.html), and the whole table where its layout has changed. Elements carry the step at which they
   appear (data-due: cards 1 to 6 in dealing order, 7 scores, 8 the winning areas, 9 the money).
   The style sheet hides them, from screen readers too, until `deal` marks them. data-until is
   the opposite. data-say is announced and data-sound played with its element; cards need neither. */

import { wantsMotion } from "../common/preferences.js";
import { say, textOf } from "./announcements.js";
import { DEAL, dealCard, lookAt, sweep } from "./cards.js";
import { countUp, dropChip, moveChips, removeLandingChips, returnChip, showFit, takeChip } from "./chips.js";
import { focusAgain, followAnswers, place } from "./clicks.js";
import { isWaiting, readWait, sayWait } from "./next_game.js";
import { openDueRealityCheck } from "./reality_check.js";
import { playSound, speak } from "./sound.js";
import { buttonFor, followTakes } from "./take_off.js";

// Milliseconds before a step. Before a third card, and before the result, everybody looks.
const PAUSES = { card: 400, third: 740, 7: DEAL, 8: 380, 9: 280 };
const THIRD_CARDS = 5;
const LAST_CARD = 6;
const RESULT = 8;
const DOUBLE_CLICK = 400; // milliseconds within which a second click is the same click

const waiting = []; // values of the buttons pressed while an answer was awaited
let sent = null; // value of the button whose answer is awaited
let betBefore = ""; // the total bet when it was pressed
let onStage = []; // the cards on the table before the answer, with their places
let dealing = null; // AbortController of the running deal: abort() shows the rest at once
let chosenChip = null;

const theGame = () => document.getElementById("game");
const theStage = () => document.getElementById("stage");
const isDeal = (action) => !action.startsWith("take:") && buttonFor(action)?.hasAttribute("data-deal");
const mayHurry = () => !theGame().hasAttribute("data-unhurried");

// --- Dealing ------------------------------------------------------------------------------------

const headerParts = (selector) => document.querySelectorAll(`#play-session ${selector}`);

/** Wait, unless the rest must be shown at once. */
function pause(milliseconds, signal) {
  if (signal.aborted) return null;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

const pauseBefore = (step) => (step > LAST_CARD ? PAUSES[step] : step >= THIRD_CARDS ? PAUSES.third : PAUSES.card);

function show(element, signal) {
  element.classList.add("is-due");
  const text = textOf(element);
  if (text) say(text);
  if (element.matches(".call p") && text && !signal.aborted) speak(text);
  if (element.matches(".card") && !signal.aborted) dealCard(element);
  const sound = element.matches(".card") ? "card" : element.dataset.sound;
  if (sound && !signal.aborted) playSound(sound);
  if ("count" in element.dataset && !signal.aborted && wantsMotion()) countUp(element, signal);
}

/** Show what is due at a step. What the croupier says about a card comes when the card is turned. */
function reveal(game, step, signal) {
  game.dataset.shown = step;
  for (const element of game.querySelectorAll(`[data-until="${step}"]`)) element.classList.add("is-past");
  const due = [...game.querySelectorAll(`[data-due="${step}"]`)];
  const isDealt = !signal.aborted && wantsMotion() && due.some((element) => element.matches(".card"));
  const later = due.filter((element) => isDealt && element.matches(".call p"));
  for (const element of due) if (!later.includes(element)) show(element, signal);
  if (later.length) pause(DEAL, signal).then(() => later.forEach((element) => show(element, signal)));
  if (step === RESULT && !signal.aborted && wantsMotion()) moveChips(game);
  // The money in the header appears with the money of the table.
  for (const element of headerParts(`[data-until="${step}"]`)) element.classList.add("is-past");
  for (const element of headerParts(`[data-due="${step}"]`)) element.classList.add("is-due");
}

/** Disable the controls while cards are dealt; a click then shows the rest at once. */
function setBusy(game, isBusy) {
  game.classList.toggle("game--busy", isBusy);
  for (const group of game.querySelectorAll("[role=group].spots, [role=group].rail")) {
    if (isBusy) group.setAttribute("aria-disabled", "true");
    else group.removeAttribute("aria-disabled");
  }
}

/** Deal a new round step by step, the first card at once; with reduced motion, show everything at once, unless the
    law lets no player hurry the result. */
async function deal(game) {
  delete game.dataset.shown;
  game.classList.add("game--fresh");
  dealing = new AbortController();
  const { signal } = dealing;
  const began = performance.now();
  if (!wantsMotion() && mayHurry()) dealing.abort();
  setBusy(game, true);
  const steps = new Set(Array.from(game.querySelectorAll("[data-due]"), (element) => Number(element.dataset.due)));
  for (const [index, step] of [...steps].toSorted((a, b) => a - b).entries()) {
    if (index && !signal.aborted) await pause(pauseBefore(step), signal);
    reveal(game, step, signal);
  }
  setTimeout(() => finish(game), Math.max(0, DOUBLE_CLICK - (performance.now() - began)));
}

function finish(game) {
  dealing = null;
  game.classList.remove("game--fresh");
  setBusy(game, false);
  openDueRealityCheck();
}

// --- Clicks -------------------------------------------------------------------------------------

function press(event) {
  const button = event.target.closest("#game button[name=action], #game [name=chip]");
  if (dealing && event.target.closest("#game .felt, #game .rail")) {
    event.preventDefault();
    if (mayHurry()) dealing.abort();
  } else if (button?.getAttribute("aria-disabled") === "true") {
    event.preventDefault();
    if (isWaiting() && button.hasAttribute("data-deal")) sayWait(theGame().dataset.next);
  } else if (button?.name === "action") {
    send(event, button);
  }
}

/** Let the click through, or hold it until the previous one is answered. */
function send(event, button) {
  const { value } = button;
  if (sent) {
    event.preventDefault();
    if (isDeal(waiting.at(-1) ?? sent)) return; // a click after DEAL belongs to no round
    waiting.push(value);
  }
  if (value.startsWith("bet:")) {
    playSound("chip");
    dropChip(button);
  } else if (value.startsWith("take:")) {
    playSound("chip");
    takeChip(buttonFor(value.replace("take:", "bet:")));
  }
}

/** Return the text of the bet meter; after a new round, the text after the deal. */
function betTotal() {
  const meter = theGame().querySelector(".meter--bet");
  const name = meter.querySelector("[data-due]") ?? meter.querySelector(".meter__name");
  return `${name.textContent} ${meter.querySelector(".meter__sum").textContent}`;
}

/** The old cards leave as soon as bets for the next round are laid, or its cards come. */
function clearStage() {
  if (!theStage().hasAttribute("data-fresh") && theStage().querySelector(".card")) return;
  sweep(onStage);
  onStage = [];
}

/** The answer is on the page: announce changes, deal new cards, then send the next waiting
    click. */
function answered() {
  const pressed = sent;
  sent = null;
  const game = theGame();
  const chip = game.querySelector(`[name=chip][value="${chosenChip}"]`);
  if (chip) chip.checked = true;
  if (game.querySelector(".call__notice--error")) {
    waiting.length = 0;
    if (pressed?.startsWith("bet:")) returnChip(buttonFor(pressed));
  }
  showFit();
  readWait();
  clearStage();
  if (theStage().hasAttribute("data-fresh")) {
    waiting.length = 0;
    deal(game);
    return;
  }
  if (dealing) dealing.abort();
  else setBusy(game, false);
  if (!dealing) openDueRealityCheck();
  if (betTotal() !== betBefore) say(betTotal());
  // htmx lets go of the form after this event: until then it would drop the click.
  if (waiting.length) queueMicrotask(() => buttonFor(waiting.shift())?.click());
}

/** No answer came: drop the waiting clicks. The table stays as the server last showed it. */
function failed() {
  if (sent?.startsWith("bet:")) returnChip(buttonFor(sent));
  sent = null;
  waiting.length = 0;
  setBusy(theGame(), false);
  removeLandingChips();
}

// Bets that a round has decided are on the table only where they stay for the next one.
followTakes("#game .spot:is(:has(.spot__bet--open), .spots--buttons :has(.spot__bet))");
document.addEventListener("click", press, true);

document.addEventListener("change", (event) => {
  if (event.target.name !== "chip") return;
  chosenChip = event.target.value;
  showFit();
});

// The form itself is gone where the answer is another layout: htmx names an element around it then.
const isClick = ({ detail }) => detail.requestConfig.elt.id === "slip";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isClick(event)) return;
  sent = event.detail.requestConfig.parameters.action;
  betBefore = betTotal();
  if (isDeal(sent)) setBusy(theGame(), true);
});

followAnswers(isClick, (answer) => {
  onStage = dealing ? [] : lookAt(theStage());
  if (answer.getElementById("game")) return false; // another layout: htmx keeps what is to stay of the table
  place([...answer.children]);
  return true;
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!isClick(event)) return;
  if (event.detail.successful) answered();
  else failed();
  focusAgain(); // takes a layout, as the first card does: one is enough
});

document.getElementById("again")?.addEventListener("click", () => {
  if (dealing) return;
  const game = theGame();
  for (const element of game.querySelectorAll(".is-due, .is-past")) element.classList.remove("is-due", "is-past");
  deal(game);
});

// A page from the back/forward cache may show an old state of the table.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

readWait();
showFit();
openDueRealityCheck();
