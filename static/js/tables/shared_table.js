/* A shared table of punto banco: sends clicks in order and none twice, animates cards and chips,
   announces what is new. table_stream.js inserts the parts of the table and reports each change. */

import { wantsMotion } from "../common/preferences.js";
import { createAnnouncer, say } from "./announcements.js";
import { countUp, dropChip, moveChips, removeLandingChips } from "./chips.js";
import "./clicks.js";
import { readWait } from "./next_game.js";
import { openDueRealityCheck } from "./reality_check.js";
import { playSound } from "./sound.js";
import { keepBack } from "./squeeze.js";
import { followTable } from "./table_stream.js";

const LAST_SECONDS = 5; // in which a countdown also ticks
const TICK = 250; // milliseconds

const own = () => document.getElementById("live-own");
const shown = () => document.getElementById("live-public");
const buttonFor = (action) =>
  Array.from(document.getElementById("slip").elements).find(({ name, value }) => name === "action" && value === action);

const waiting = []; // values of the buttons pressed while an answer was awaited
let isSending = false;
let chosen = null; // value of the chip
let lastTick = null; // the second of the countdown whose tick was played last
let betBefore = ""; // the text of the bet meter

const announce = createAnnouncer(() => shown().dataset.round);

const roundOf = (part) => part.querySelector("[name=round_id]").value;

function betTotal() {
  const meter = own().querySelector(".meter--bet");
  return `${meter.querySelector(".meter__name").textContent} ${meter.querySelector(".meter__sum").textContent}`;
}

// --- The public part ----------------------------------------------------------------------------

const cardsOf = (part) => part.querySelectorAll(".card");

/** Animate new cards, and the result that they decide. */
function arrive(before, after) {
  const isSameRound = before.dataset.round === after.dataset.round;
  const known = new Set(isSameRound ? Array.from(cardsOf(before), (card) => card.dataset.due) : []);
  const fresh = Array.from(cardsOf(after)).filter((card) => !known.has(card.dataset.due));
  for (const card of fresh) card.classList.add("card--arrives");
  if (fresh.length) playSound("card");
  for (const each of after.querySelectorAll(".hand__won")) each.classList.toggle("is-new", fresh.length > 0);
  if (before.dataset.phase === "betting" && after.dataset.phase === "closed") playSound("closed");
}

/** Remove the reason of a refused click when its bets are closed. */
function forgetRefusal(before, after) {
  if (after.dataset.phase !== "betting" || before.dataset.deadline === after.dataset.deadline) return;
  own().querySelector(".call__notice--error")?.remove();
}

document.addEventListener("live:public", ({ detail: { before, after } }) => {
  arrive(before, after);
  forgetRefusal(before, after);
  announce(after);
  countDown();
});

/** Mark the last seconds for bets, and play a tick for each. */
function countDown() {
  const clock = shown().querySelector(".countdown");
  const seconds = Number(clock?.querySelector("[data-seconds]").textContent);
  const isLast = shown().dataset.phase === "betting" && seconds > 0 && seconds <= LAST_SECONDS;
  clock?.classList.toggle("countdown--last", isLast);
  if (isLast && seconds !== lastTick) playSound("timer");
  lastTick = isLast ? seconds : null;
}

// --- The player's own part ----------------------------------------------------------------------

const isSettled = (part) => part.querySelector(".spot__bet:not(.spot__bet--open)") !== null;

/** The player's part was replaced: show the result of the bets, and the total of the session. */
function changed(before, after) {
  const chip = after.querySelector(`[name=chip][value="${chosen}"]`);
  if (chip) chip.checked = true;
  if (isSettled(after) && !isSettled(before)) settle(after);
  const net = document.getElementById("play-session-net");
  if (net && after.dataset.net) net.textContent = after.dataset.net;
  announce(after);
  readWait();
  const bet = betTotal();
  const isSameRound = roundOf(before) === roundOf(after); // a new round is not announced
  if (bet !== betBefore && isSameRound && shown().dataset.phase === "betting") say(bet);
  betBefore = bet;
}

function settle(part) {
  for (const each of part.querySelectorAll(".spot:has(.spot__lit)")) each.classList.add("is-new");
  const won = part.querySelector(".meter__won");
  if (won) playSound("win");
  if (!wantsMotion()) return;
  moveChips(part);
  if (won) countUp(won);
}

document.addEventListener("live:own", ({ detail: { before, after } }) => changed(before, after));

// --- Clicks -------------------------------------------------------------------------------------

/** The click has no effect now: highlight the call, which shows the reason. */
function pointOut(call) {
  if (wantsMotion()) call.animate({ opacity: [1, 0.2, 1] }, { duration: 400, easing: "ease-in-out" });
}

function press(event) {
  const button = event.target.closest("button[name=action]");
  if (button?.form?.id !== "slip") return;
  if (button.getAttribute("aria-disabled") === "true") {
    event.preventDefault();
    pointOut(document.querySelector("#live-sheet[open] .sheet__table") ?? shown().querySelector(".live-call__text"));
    return;
  }
  if (isSending) {
    event.preventDefault();
    waiting.push(button.value);
  }
  if (button.value.startsWith("bet:")) {
    playSound("chip");
    dropChip(button);
  }
}

/** The answer is on the page: send the next waiting click, unless this one was refused. */
function answered(before) {
  changed(before, own());
  openDueRealityCheck();
  if (own().querySelector(".call__notice--error")) waiting.length = 0;
  const next = waiting.length ? buttonFor(waiting.shift()) : null;
  if (next) next.click();
}

document.addEventListener("click", press, true);
document.addEventListener("change", (event) => {
  if (event.target.name === "chip") chosen = event.target.value;
});

let before = own();
const isOurs = (event) => event.detail.target?.id === "live-own";

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isOurs(event)) return;
  isSending = true;
  before = own();
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!isOurs(event)) return;
  isSending = false;
  if (event.detail.successful) {
    answered(before);
  } else {
    waiting.length = 0;
    removeLandingChips();
  }
});

announce(shown(), true);
announce(own(), true);
betBefore = betTotal();
openDueRealityCheck();
setInterval(countDown, TICK);
followTable(keepBack);
