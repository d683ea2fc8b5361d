/* The receipts of the dealer at a table: of each round, at a shared table of the bets before they are closed, and at
   Chemin de Fer of the stakes once they are. The answer to a click brings them (data-receipt); what it does not bring is
   asked for. Each is verified and kept, by modules that are loaded with the first. */

const WAIT = 1500; // milliseconds before a receipt is asked for again
const TRIES = 20;
const SPREAD = 8000; // milliseconds within which the browsers at a shared table ask for the receipt of a round

const place = document.getElementById("receipts");
let shownFor = ""; // the round and version that the line under the table speaks of

function show(state) {
  place.hidden = false;
  for (const each of place.querySelectorAll("[data-state]")) each.hidden = each.dataset.state !== state;
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const inOrder = (stakes) => stakes.split(" ").filter(Boolean).toSorted().join(" ");

/** Verify and keep a receipt, and say so. `stakes`: those on the page, undefined where it does not show them. */
async function take(note, stakes, say = show) {
  const { fieldsOf } = await import("../verification/receipt.js");
  const { isReceiptSigned } = await import("../verification/receipt.js");
  const { keepReceipt } = await import("../verification/kept_receipts.js");
  const fields = fieldsOf(note);
  const keys = place.dataset.keys.split(" ").filter(Boolean);
  const isSigned = await isReceiptSigned(note, keys);
  const isSame = stakes === undefined || inOrder(stakes) === inOrder(fields.stakes);
  if (isSigned === false || !isSame) return show("wrong"); // whatever else is shown
  const { holder } = place.dataset;
  const { round, of } = fields;
  const { version = 0 } = fields;
  const isKept = await keepReceipt({ holder, round, of, version: Number(version), note, keys });
  place.dataset.last = `${of} ${round} ${version}`;
  return say(isKept ? "kept" : "none");
}

/** Ask for the receipt of a round until it is there, or until nobody waits for it any more. */
async function ask(round, isAwaited, say = show, first = WAIT) {
  for (let tries = TRIES; tries > 0; tries -= 1) {
    await pause(tries === TRIES ? first : WAIT);
    if (!isAwaited()) return;
    const answer = await fetch(place.dataset.receipt.replace(place.dataset.any, round)).catch(() => null);
    if (answer?.status === 404) return;
    if (answer?.ok) return take((await answer.json()).receipt, undefined, say);
  }
}

/** A round or bets of it are on the page: take the receipt that came with them, or ask for it. */
function expectReceipt(round, { receipt, stakes, version = "" }) {
  const what = `${round} ${version}`;
  if (!round || what === shownFor) return;
  shownFor = what;
  if (receipt) return void take(receipt, stakes);
  show("awaited");
  ask(round, () => shownFor === what);
}

/** Return the bets on the page, "bet=amount" for each. */
function stakesShown(part) {
  const bets = [...part.querySelectorAll(".spot__bet[data-stake]")];
  return bets.map((bet) => `${bet.closest("[data-bet]").dataset.bet}=${bet.dataset.stake}`).join(" ");
}

// --- A solo table -------------------------------------------------------------------------------

const lastRound = () => document.getElementById("last-round");

/** The round before is on the page that was opened: ask for its receipt, unless it is kept. */
async function readLastRound() {
  const { round } = lastRound().dataset;
  if (!round) return;
  const { isRoundKept } = await import("../verification/kept_receipts.js");
  if (!(await isRoundKept(place.dataset.holder, round))) expectReceipt(round, {});
  else if (!shownFor) show("kept");
}

// --- A shared table -----------------------------------------------------------------------------

const own = () => document.getElementById("live-own");
let bettingOn = ""; // the round that the bets of this page are for

function readBets() {
  const { receipt, of, version } = document.getElementById("bet-receipt").dataset;
  if (!of) return;
  bettingOn = of;
  expectReceipt(of, { receipt, version, stakes: stakesShown(own()) });
}

const isAlways = () => true;
const sayNothing = () => undefined;

/** The round of the bets is over: ask for its receipt, not at the same moment as everybody else. */
async function readEnd() {
  const ended = own().querySelector("[data-settled]")?.dataset.of;
  if (!ended || ended !== bettingOn) return;
  bettingOn = "";
  await pause(Math.random() * SPREAD);
  ask(ended, isAlways, sayNothing); // also while the next bets are placed
}

// --- Chemin de Fer ------------------------------------------------------------------------------

const CLOSED = ["cards", "punter", "banker"]; // phases of a coup whose stakes are closed

/** The stakes of the coup are closed: ask for the receipt of the player's stake or bank, if they have one in it. */
function readCoup() {
  const { round, phase } = document.getElementById("live-public").dataset;
  const hasMoney = document.querySelector(`#seat-${own().dataset.seat} :is(.seat__stake, .seat__plaque)`);
  if (!hasMoney || !CLOSED.includes(phase) || round === bettingOn) return;
  bettingOn = round;
  ask(round, isAlways, show, 0);
}

if (lastRound()) {
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) expectReceipt(lastRound().dataset.round, lastRound().dataset);
  });
  readLastRound();
} else if (document.querySelector(".live--chemin")) {
  document.addEventListener("live:public", readCoup);
  document.addEventListener("live:own", readEnd);
  readCoup();
} else if (own()) {
  document.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && readBets());
  document.addEventListener("live:own", readEnd);
  readBets();
}
