/* The cards of a coup, one after the other in the order in which they are dealt, and only then
   what they decide: totals, result, the next question, the log. A result stays for a moment even
   if the next coup begins at once. The server sends each state whole; this module only delays
   it, by seconds at most, and never the countdown's end. */

import { wantsMotion } from "../common/preferences.js";
import { showOwn, showPart } from "./table_stream.js";

const STEP = 320; // milliseconds between two cards
const PAUSE = 700; // between the last card and what it decides
const HOLD = 3000; // in which a result stays
const PATIENCE = 2500; // for the cards that the player's own part already knows of
const LATE = 6000; // behind the server: catch up
const HANDS = ["live-hand-player", "live-hand-banker"]; // the first card goes to the first

const shown = () => document.getElementById("live-public");
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const moveOf = (part) => Number(part.dataset.move);

const queue = []; // public parts that wait, each with the time of its arrival
const waiting = { own: null, board: null };
let isDealing = false;
let isOurs = false; // what is shown now was held back before
let move = moveOf(shown()); // the last one whose public part is on the page
let backAt = -Infinity; // when the page last came back
let isBehind = false; // since then no state has arrived: the next one is shown at once
let result = null; // the last public part with a result, and until when it stays

/** Show a part that waited. */
function release(show, ...part) {
  isOurs = true;
  show(...part);
  isOurs = false;
}

// --- Cards ----------------------------------------------------------------------------------------

/** Return the places of a hand, in order: a card, its number or "down". */
const placesOf = (part, hand) =>
  Array.from(part.querySelectorAll(`#${hand} .card`), (card) => ({ card, face: card.dataset.due ?? "down" }));

const hasCards = (part) => part.querySelector(".middle .card") !== null;

/** Return the cards that are new or newly turned, in dealing order: each as its hand and place. */
function freshCards(before, after) {
  const isSameRound = before.dataset.round === after.dataset.round;
  return HANDS.flatMap((hand, side) => {
    const known = isSameRound ? placesOf(before, hand) : [];
    return placesOf(after, hand).flatMap(({ face }, place) =>
      known[place]?.face === face ? [] : [{ hand, place, order: 2 * place + side }],
    );
  }).toSorted((a, b) => a.order - b.order);
}

/** Return the table as it was before *after*, with the first of its new cards. */
function withCards(before, after, fresh, count) {
  const missing = fresh.slice(count);
  const stage = before.cloneNode(true);
  stage.dataset.key = `${after.dataset.key}-${missing.length}`;
  stage.dataset.round = after.dataset.round;
  for (const hand of HANDS) {
    const cards = after.querySelector(`#${hand}`).cloneNode(true);
    const known = before.dataset.round === after.dataset.round ? placesOf(before, hand) : [];
    cards.classList.remove("hand--wins");
    cards.querySelector(".hand__won")?.remove();
    if (fresh.some((card) => card.hand === hand)) cards.querySelector(".hand__score")?.remove();
    const places = cards.querySelectorAll(".card");
    for (const each of missing.filter((card) => card.hand === hand)) {
      const slot = document.createElement("span");
      slot.className = "slot";
      places[each.place].replaceWith(known[each.place]?.card.cloneNode(true) ?? slot);
    }
    stage.querySelector(`#${hand}`).replaceWith(cards);
  }
  return stage;
}

// --- Results that stay --------------------------------------------------------------------------

/** Return a part of the next coup with the cards and the result of the last one. */
function withResult(part) {
  const mixed = part.cloneNode(true);
  mixed.dataset.key += "-after";
  for (const id of [...HANDS, "live-result"]) {
    mixed.querySelector(`#${id}`).replaceWith(result.part.querySelector(`#${id}`).cloneNode(true));
  }
  return mixed;
}

function present(part) {
  move = moveOf(part);
  if (part.dataset.outcome && part.dataset.round !== result?.part.dataset.round) {
    result = { part: part.cloneNode(true), until: performance.now() + HOLD };
  }
  const rest = (result?.until ?? 0) - performance.now();
  const stays = rest > 0 && !part.dataset.outcome && !hasCards(part);
  release(showPart, "public", stays ? withResult(part) : part);
  if (stays) setTimeout(() => isDealing || moveOf(part) !== move || release(showPart, "public", part), rest);
}

// --- One after the other ------------------------------------------------------------------------

document.addEventListener("live:resumed", () => {
  backAt = performance.now();
  isBehind = true;
  result = null;
});

async function deal(part, arrived) {
  const before = shown();
  const fresh = hasCards(part) ? freshCards(before, part) : [];
  const isLate = () => !wantsMotion() || document.hidden || arrived < backAt || performance.now() - arrived > LATE;
  for (let count = 1; count <= fresh.length && !isLate(); count += 1) {
    release(showPart, "public", withCards(before, part, fresh, count));
    await sleep(count < fresh.length ? STEP : PAUSE);
  }
  present(part);
}

async function dealAll() {
  isDealing = true;
  while (queue.length) {
    const { part, arrived } = queue.shift();
    await deal(part, arrived);
  }
  isDealing = false;
  showWaiting();
}

function showWaiting(isPatienceOver = false) {
  for (const name of ["own", "board"]) {
    const part = waiting[name];
    if (!part || isDealing || (moveOf(part) > move && !isPatienceOver)) continue;
    waiting[name] = null;
    if (name === "own") release(showOwn, part);
    else release(showPart, "board", part);
  }
}

/** Return whether the player's own part in an answer may be shown; if not, it is shown later. */
export function mayShowAnswer(part) {
  if (keepBack("own", part)) return true;
  document.getElementById("live-own").inert = true; // what it offers has been answered
  return false;
}

/** Return what may be shown of a part of the table now, or null if it has to wait. */
export function keepBack(name, part) {
  if (isOurs) return part;
  if (name === "public") {
    queue.push({ part, arrived: isBehind ? -Infinity : performance.now() });
    isBehind = false;
    if (!isDealing) dealAll();
    return null;
  }
  if (!isDealing && moveOf(part) <= move) {
    waiting[name] = null;
    return part;
  }
  waiting[name] = part;
  setTimeout(showWaiting, PATIENCE, true);
  return null;
}
