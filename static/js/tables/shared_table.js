/* A shared table of punto banco: sends clicks in order and none twice, animates cards and chips,
   announces what is new. table_stream.js inserts the parts of the table and reports each change. */

import { preference, setPreference, wantsMotion } from "../common/preferences.js";
import { createAnnouncer, say } from "./announcements.js";
import { dealCard, layFaceDown, lookAt, sweep, turnCard } from "./cards.js";
import { countUp, dropChip, moveChips, removeLandingChips, returnChip, showFit, takeChip } from "./chips.js";
import { focusAgain } from "./clicks.js";
import { readWait } from "./next_game.js";
import { openDueRealityCheck } from "./reality_check.js";
import { playSound, speak } from "./sound.js";
import { followTable, isClick } from "./table_stream.js";
import { buttonFor, followTakes } from "./take_off.js";

const LAST_SECONDS = 5; // in which a countdown also ticks
const TICK = 250; // milliseconds

const own = () => document.getElementById("live-own");
const shown = () => document.getElementById("live-public");

const waiting = []; // values of the buttons pressed while an answer was awaited
let laid = null; // value of the bet whose chip was sent last
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

let leaving = []; // the cards of the last round, with their places

document.addEventListener("live:public-leaves", ({ detail: { before, after } }) => {
  leaving = cardsOf(after).length ? [] : lookAt(before);
});

/** Animate new cards, and return their animations. */
function arrive(before, after) {
  const isSameRound = before.dataset.round === after.dataset.round;
  const known = new Set(isSameRound ? Array.from(cardsOf(before), (card) => card.dataset.due) : []);
  const fresh = Array.from(cardsOf(after)).filter((card) => !known.has(card.dataset.due));
  sweep(leaving);
  leaving = [];
  const turning = fresh.map((card) => bring(card, before)).filter(Boolean);
  if (fresh.length) playSound("card");
  for (const each of after.querySelectorAll(".hand__won")) each.classList.toggle("is-new", fresh.length > 0);
  if (before.dataset.phase === "betting" && after.dataset.phase === "closed") {
    playSound("closed");
    layFaceDown(inDealingOrder(after));
  }
  return turning;
}

/** Return the backs of the first four cards: one to each hand, then the second ones. */
function inDealingOrder(part) {
  const [player, banker] = Array.from(part.querySelectorAll(".hand"), (hand) => hand.querySelectorAll(".slot--down"));
  return [player[0], banker[0], player[1], banker[1]].filter(Boolean);
}

/** Turn a card that was face down on the table; deal any other from the shoe. One that the player turns stays down.
    Return its animation, if it is animated. */
function bring(card, before) {
  if (card.classList.contains("card--down")) return null;
  const hand = before.querySelector(`#${card.closest(".hand").id}`);
  const isOnTable = hand?.querySelector(".slot--down") && !card.classList.contains("card--third");
  return isOnTable ? turnCard(card) : dealCard(card);
}

// --- What the cards decide ----------------------------------------------------------------------

const DECIDED = ["#live-call", "#live-hand-player .hand__head", "#live-hand-banker .hand__head"];
let undecided = null; // the public part on the page whose new cards are not all face up
let showDecided = () => {}; // shows what the cards of the last such part decide

/** Show totals, call and winner once the new cards are face up, and until then what the page showed before. */
async function decide(before, after, turning) {
  showDecided(); // where cards come faster than they turn, each shows what the one before it decided
  const isInSight = turning.length > 0 && !document.hidden; // in a hidden window no animation ends
  undecided = isInSight && before.dataset.round === after.dataset.round ? after : null;
  if (undecided) {
    showDecided = holdBack(before, after);
    await Promise.allSettled(turning.map(({ finished }) => finished));
    if (undecided !== after) return; // a newer part is on the page
    showDecided();
    undecided = null;
  }
  showWinners();
  speakCall(before, after);
  announce(after);
}

/** Leave totals and call of a part as they were *before*, and mark no winner. Return what shows all of it. */
function holdBack(before, after) {
  const held = DECIDED.map((selector) => {
    const latest = after.querySelector(selector);
    const earlier = before.querySelector(selector).cloneNode(true);
    latest.replaceWith(earlier);
    return { earlier, latest };
  });
  const winner = after.querySelector(".hand--wins");
  const frame = winner?.querySelector(".hand__won");
  winner?.classList.remove("hand--wins");
  frame?.remove();
  return () => {
    for (const { earlier, latest } of held) earlier.replaceWith(latest);
    winner?.classList.add("hand--wins");
    if (frame) winner.querySelector(".hand__cards").append(frame);
  };
}

/** Remove the reason of a refused click when its bets are closed. */
function forgetRefusal(before, after) {
  if (after.dataset.phase !== "betting" || before.dataset.deadline === after.dataset.deadline) return;
  own().querySelector(".call__notice--error")?.remove();
}

document.addEventListener("live:public", ({ detail: { before, after } }) => {
  const turning = arrive(before, after);
  forgetRefusal(before, after);
  sayStillOpen(before, after);
  decide(before, after, turning);
  countDown();
});

/** Light the areas of the bets that win, for everybody at the table. */
function showWinners() {
  const won = undecided ? [] : (shown().dataset.won?.split(" ") ?? []);
  for (const spot of own().querySelectorAll(".spot"))
    spot.classList.toggle("spot--won", won.includes(spot.dataset.bet));
}

/** Show on each bet its share of all stakes, as the stream has sent it last. */
function showShares() {
  for (const spot of own().querySelectorAll(".spot")) {
    spot.querySelector(".spot__share")?.remove();
    const share = document.querySelector(`[data-share-of="${spot.dataset.bet}"]`);
    if (!share) continue;
    const bar = document.createElement("span");
    bar.className = "spot__share num";
    bar.ariaHidden = "true";
    bar.textContent = share.dataset.text;
    bar.style.setProperty("--share", `${share.dataset.share}%`);
    spot.append(bar);
  }
}

document.addEventListener("live:bettors", showShares);

/** Speak the call of a new phase. */
function speakCall(before, after) {
  const call = after.querySelector(".live-call__what")?.dataset.say;
  if (call && call !== before.querySelector(".live-call__what")?.dataset.say) speak(call);
}

/** Nobody has bet, and the countdown begins again: say why. */
function sayStillOpen(before, after) {
  if (before.dataset.phase !== "betting" || after.dataset.phase !== "betting") return;
  if (!(Number(after.dataset.deadline) > Number(before.dataset.deadline))) return;
  const text = document.getElementById("live").dataset.again;
  const note = document.createElement("p");
  note.className = "live-call__note";
  note.textContent = text;
  after.querySelector(".live-call__text").append(note);
  say(text);
}

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
  showWinners();
  showShares();
  showFit();
  announce(after);
  readWait();
  const bet = betTotal();
  const isSameRound = roundOf(before) === roundOf(after); // a new round is not announced
  if (bet !== betBefore && isSameRound && shown().dataset.phase === "betting") say(bet);
  betBefore = bet;
}

function settle(part) {
  for (const each of part.querySelectorAll(".spot:has(.spot__lit, .spot__bet--push)")) each.classList.add("is-new");
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
  } else {
    laid = button.value.startsWith("bet:") ? button.value : null;
  }
  if (button.value.startsWith("bet:")) {
    playSound("chip");
    dropChip(button);
  } else if (button.value.startsWith("take:")) {
    playSound("chip");
    takeChip(buttonFor(button.value.replace("take:", "bet:")));
  }
}

/** The answer is on the page: send the next waiting click, unless this one was refused. */
function answered(before) {
  changed(before, own());
  openDueRealityCheck();
  if (own().querySelector(".call__notice--error")) {
    waiting.length = 0;
    if (laid) returnChip(buttonFor(laid));
  }
  // htmx lets go of the form after this event.
  if (waiting.length) queueMicrotask(() => buttonFor(waiting.shift())?.click());
}

// --- Squeezing ----------------------------------------------------------------------------------

let keepBack = (_name, after) => after; // that of squeeze.js, once cards are turned by hand

/** Load squeeze.js when this player wants to turn cards, or another does: it then decides what may be shown. */
async function loadSqueeze({ detail } = {}) {
  const hands = detail?.hands ?? [];
  if (preference("squeeze") !== "on" && !hands.length) return;
  document.removeEventListener("sabot:preferences", loadSqueeze);
  document.removeEventListener("live:squeeze", loadSqueeze);
  ({ keepBack } = await import("./squeeze.js"));
  if (hands.length) document.dispatchEvent(new CustomEvent("live:squeeze", { detail })); // squeeze.js hears it now
}

document.addEventListener("sabot:preferences", loadSqueeze);
document.addEventListener("live:squeeze", loadSqueeze);
loadSqueeze();

/** Offer it once, when the first bets of this player are closed: before, it would cover bets that are still wanted.
    The offer is gone with the next betting time. */
function offerSqueeze({ detail: { before, after } }) {
  if (
    before.dataset.phase !== "betting" ||
    after.dataset.phase !== "closed" ||
    preference("squeeze-offered") === "yes" ||
    preference("squeeze") === "on" ||
    !own().querySelector(".spot__bet--open")
  )
    return;
  setPreference("squeeze-offered", "yes");
  const offer = document.getElementById("squeeze-offer").content.firstElementChild.cloneNode(true);
  const close = () => offer.remove();
  offer.querySelector("[value=on]").addEventListener("click", () => setPreference("squeeze", "on"));
  for (const button of offer.querySelectorAll("button")) button.addEventListener("click", close);
  document.addEventListener("live:public", ({ detail }) => {
    if (detail.after.dataset.phase === "betting") close();
  });
  document.body.append(offer);
}

document.addEventListener("live:public", offerSqueeze);

followTakes("#live .spot:not([aria-disabled]):has(.spot__bet--open)");
document.addEventListener("click", press, true);
document.addEventListener("change", (event) => {
  if (event.target.name !== "chip") return;
  chosen = event.target.value;
  showFit();
});

let before = own();

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isClick(event)) return;
  isSending = true;
  before = own();
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!isClick(event)) return;
  isSending = false;
  if (event.detail.successful) {
    answered(before);
  } else {
    waiting.length = 0;
    removeLandingChips();
  }
  focusAgain();
});

showWinners();
showFit();
announce(shown(), true);
announce(own(), true);
betBefore = betTotal();
openDueRealityCheck();
setInterval(countDown, TICK);
followTable((name, after) => keepBack(name, after));
