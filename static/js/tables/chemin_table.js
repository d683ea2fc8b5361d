/* A Chemin de Fer table: animates cards and stakes, shows the player's turn, fills in amounts,
   announces what is new. table_stream.js inserts the parts of the table and reports each change. */

import { wantsMotion } from "../common/preferences.js";
import { createAnnouncer, say } from "./announcements.js";
import { keepBack, mayShowAnswer } from "./chemin_deal.js";
import { fly } from "./chips.js";
import { focusAgain } from "./clicks.js";
import { readWait } from "./next_game.js";
import { openDueRealityCheck } from "./reality_check.js";
import { playSound } from "./sound.js";
import { followTable, isClick } from "./table_stream.js";

const LAST_SECONDS = 5; // in which the player's own countdown also ticks
const TICK = 250; // milliseconds

const own = () => document.getElementById("live-own");
const shown = () => document.getElementById("live-public");
const announce = createAnnouncer(() => shown().dataset.round);
const title = document.title;

let question = null; // the last question to the player
let lastTick = null; // the second of the countdown whose tick was played last
let isFocused = false; // whether the player's own part has, or had, the focus
let before = own();
let isLeaveOpen = false; // the question before leaving

// --- The public part ----------------------------------------------------------------------------

/** Return the cards of a hand, in order: each with its number, or "down". */
const cardsOf = (part, hand) =>
  Array.from(part.querySelectorAll(`#${hand} .card`), (card) => ({ card, face: card.dataset.due ?? "down" }));
const stakesOf = (part) => Array.from(part.querySelectorAll(".seat__stake"), (stake) => stake.textContent).join();

function arrive(was, now) {
  const fresh = Array.from(now.querySelectorAll(".middle .hand")).flatMap(({ id }) => {
    const known = was.dataset.round === now.dataset.round ? cardsOf(was, id) : [];
    return cardsOf(now, id).flatMap(({ card, face }, place) =>
      known[place]?.face === face ? [] : [[card, known[place]]],
    );
  });
  for (const [card, replaced] of fresh) card.classList.add(replaced ? "card--turns" : "card--arrives");
  if (fresh.length) playSound("card");
  else if (stakesOf(was) !== stakesOf(now)) playSound("chip");
  if (was.dataset.phase === "stakes" && now.dataset.phase === "cards") playSound("closed");
}

/** After the coup: lost stakes move to the bank, won stakes come from it. */
function moveStakes(was, now) {
  if (!wantsMotion() || was.querySelector(".seat--won, .seat--lost")) return;
  fly(now.querySelectorAll(".seat--lost .stack"), now.querySelectorAll(".seat--won .stack"));
}

document.addEventListener("live:public", ({ detail }) => {
  arrive(detail.before, detail.after);
  moveStakes(detail.before, detail.after);
  announce(detail.after);
  countDown();
});

// --- The player's turn --------------------------------------------------------------------------

/** Mark the last seconds for a decision; in the player's own turn, play a tick for each. */
function countDown() {
  const clock = shown().querySelector(".croupier__clock");
  const seconds = Number(clock?.querySelector("[data-seconds]").textContent);
  const isLast = seconds > 0 && seconds <= LAST_SECONDS;
  clock?.classList.toggle("countdown--last", isLast);
  if (isLast && own().dataset.asked && seconds !== lastTick) playSound("timer");
  lastTick = isLast ? seconds : null;
}

/** Show in the title of the window, and by a sound, that it is the player's turn. */
function showTurn(isSilent) {
  const { asked } = own().dataset;
  document.title = asked ? `● ${own().querySelector(".decide__turn").textContent} · ${title}` : title;
  if (asked && asked !== question && !isSilent) playSound("turn");
  question = asked ?? null;
}

// --- The player's own part ----------------------------------------------------------------------

const settledIn = (part) => part.querySelector("[data-settled]")?.dataset;

/** Keep typed input, and an open question, when the part is replaced. */
function keepAnswers(was, now) {
  if (was.dataset.asked === now.dataset.asked) {
    for (const input of was.querySelectorAll("input[type=text]")) {
      const same = document.getElementById(input.id);
      if (same) same.value = input.value;
    }
  }
  if (isLeaveOpen) document.getElementById("leave-ask")?.showPopover?.();
}

function changed(was, now) {
  keepAnswers(was, now);
  const net = document.getElementById("play-session-net");
  if (net && now.dataset.net) net.textContent = now.dataset.net;
  const over = settledIn(now);
  if (over?.settled === "won" && settledIn(was)?.of !== over.of) playSound("win");
  announce(now);
  readWait();
  showTurn(false);
  if (isFocused && document.activeElement === document.body)
    now.querySelector(".decide").focus({ preventScroll: true });
}

document.addEventListener(
  "toggle",
  (event) => {
    if (event.target.id === "leave-ask" && event.target.isConnected) isLeaveOpen = event.newState === "open";
  },
  true,
);

document.addEventListener("focusin", (event) => {
  isFocused = own().contains(event.target);
});
document.addEventListener("live:own", ({ detail }) => changed(detail.before, detail.after));

document.addEventListener("click", (event) => {
  const quick = event.target.closest("[data-amount]");
  if (!quick) return;
  document.getElementById(quick.dataset.for).value = quick.dataset.amount;
  playSound("chip");
  say(quick.dataset.amount);
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (!isClick(event)) return;
  before = own();
  isLeaveOpen = false;
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!isClick(event) || !event.detail.successful) return;
  focusAgain();
  changed(before, own());
  openDueRealityCheck();
});

announce(shown(), true);
announce(own(), true);
showTurn(true);
openDueRealityCheck();
setInterval(countDown, TICK);
followTable(keepBack, mayShowAnswer);
