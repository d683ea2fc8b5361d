/* "Check all my rounds" on Game logs: looks for every round of the player, and for every receipt that this browser has
   kept, in the public log. A round that is missing there, or is another one than its receipt says, is named. Each round
   in the list has a tick: its signed receipt is kept, or it was found in the log. */

import { keepReceipt, keptReceipts } from "./kept_receipts.js";
import { PublicLog } from "./public_log.js";
import { betLeafOf, dueAt, entryOf, fieldsOf, isReceiptSigned, leafOf } from "./receipt.js";
import { climb } from "./card_tree.js";
import { bytesOf, hex } from "./shuffle.js";

const MOST_PAGES = 50; // of rounds
const TRIES = 5; // of a request that the house answers with "too many"
const WAIT = 2000; // milliseconds between them
const MOST_NAMED = 100; // rounds with a fault, on the page and in the file
const ROOM = 1000; // receipts, beyond which this page keeps none, so that those of tables stay

const panel = document.getElementById("all-rounds");
const button = document.getElementById("check-all");
const listed = document.getElementById("all-rounds-faults");
const save = document.getElementById("save-evidence");
const figures = document.getElementById("all-rounds-counts");
const split = (text) => text.split(" ").filter(Boolean);

/** Show one of the verdicts. */
function showVerdict(which) {
  for (const sentence of panel.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
}

function showCounts(counts) {
  figures.hidden = false;
  for (const place of figures.querySelectorAll("[data-count]")) place.textContent = counts[place.dataset.count];
}

const marks = new Map(); // of rounds: "kept", "right" or "wrong"

/** Show the marks of the rounds in the list. */
function showMarks() {
  for (const place of document.querySelectorAll("[data-proof]")) {
    const mark = panel.querySelector(`template[data-proof-mark="${marks.get(place.dataset.proof)}"]`);
    place.replaceChildren(...(mark ? [mark.content.cloneNode(true)] : []));
  }
}

/** Mark the rounds whose receipt this browser has kept, if the dealer has signed it. */
async function showKept() {
  const keys = split(panel.dataset.keys);
  for (const { round, of, note } of await keptReceipts(panel.dataset.holder)) {
    if (of === "round" && (await isReceiptSigned(note, keys)) && !marks.has(round)) marks.set(round, "kept");
  }
  showMarks();
}

/** Return what the house answers to an address, null where it knows nothing of it. Throws if there is no answer. */
async function asked(address, tries = TRIES) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (answer.status === 404) return null;
  if (answer.status === 429 && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, WAIT));
    return asked(address, tries - 1);
  }
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}

/** Yield what the house says of the player's rounds, newest first. */
async function* rounds() {
  let older = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await asked(panel.dataset.receipts + (older ? `?before=${older}` : ""));
    yield* answer.rounds;
    older = answer.older;
    if (!older) return;
  }
}

const ofRound = (round) => asked(panel.dataset.receipt.replace(panel.dataset.any, round));

/** Compare what the house says of a round with the log and with what this browser has kept of it. Return the name of
    the fault, "waiting" for a round that is too new, or "". */
async function faultOf(said, kept, log, keys) {
  if ((await isReceiptSigned(said.receipt, keys)) === false) return "unsigned";
  const fields = fieldsOf(said.receipt);
  const before = kept.get(`${said.round} ${fields.of}`);
  if (before && before.note.split("\n\n")[0] !== said.receipt.split("\n\n")[0]) return "changed";
  const bets = kept.get(`${said.round} bet`);
  if (bets && fieldsOf(bets.note).stakes !== fields.stakes) return "bets";
  if (said.leaf === null || said.leaf >= log.size) return Date.now() < dueAt(fields) ? "waiting" : "missing";
  return (await log.has(await leafOf(entryOf(fields)), said.leaf)) ? "" : "other";
}

/** Return the fault of a receipt of bets whose round the house does not list. All may have been taken back elsewhere. */
async function faultOfBets(fields, said, log) {
  if (said === null) return "bets";
  if (!said.sealed || said.sealed.leaf >= log.size) return Date.now() < dueAt(fields) ? "waiting" : "missing";
  const { leaf, entry, place, path } = said.sealed;
  const event = JSON.parse(entry);
  if (event.kind !== "bets.sealed" || event.on !== `round:${fields.round}`) return "other";
  const found = await climb(place, event.data.bets, await betLeafOf(fields), path.map(bytesOf));
  if (!found || hex(found) !== event.data.root) return "bets";
  return (await log.has(await leafOf(entry), leaf)) ? "" : "other";
}

/** Return the fault of a receipt that was kept of a round that the house does not list. */
async function faultOfKept({ note, keys }, log) {
  if ((await isReceiptSigned(note, keys)) === false) return ""; // nobody can claim anything by it
  const fields = fieldsOf(note);
  if (fields.of === "bet" && !fields.stakes) return ""; // all bets were taken back
  const said = await ofRound(fields.round);
  if (fields.of === "bet") return faultOfBets(fields, said, log);
  if (said === null) return "unknown";
  return faultOf(said, new Map([[`${fields.round} ${fields.of}`, { note }]]), log, split(panel.dataset.keys));
}

function name({ code, fault }) {
  const entry = document.createElement("li");
  const sentence = panel.querySelector(`template[data-fault="${fault}"]`).content.textContent.trim();
  entry.dataset.fault = fault;
  const round = document.createElement("b");
  round.className = "num";
  round.textContent = code;
  entry.append(round, ` ${sentence}`);
  return entry;
}

/** Name the rounds with a fault, and offer all of it as a file. */
function showFaults(faults, log) {
  listed.replaceChildren(...faults.slice(0, MOST_NAMED).map(name));
  listed.hidden = faults.length === 0;
  save.hidden = faults.length === 0;
  if (!faults.length) return;
  const evidence = { at: new Date().toISOString(), checkpoint: log.note, rounds: faults.slice(0, MOST_NAMED) };
  URL.revokeObjectURL(save.href);
  save.href = URL.createObjectURL(new Blob([JSON.stringify(evidence, null, 2)], { type: "application/json" }));
  save.download = "sabot-receipts.json";
}

/** Keep the receipt of a round that no table has brought. */
function keep({ round, receipt }, keys) {
  const { of } = fieldsOf(receipt);
  return keepReceipt({ holder: panel.dataset.holder, round, of, version: 0, note: receipt, keys });
}

async function check() {
  const keys = split(panel.dataset.keys);
  const log = new PublicLog(panel.dataset.log, split(panel.dataset.logKeys));
  const counts = { rounds: 0, kept: 0, waiting: 0 };
  const faults = [];
  const kept = new Map();
  for (const each of await keptReceipts(panel.dataset.holder)) kept.set(`${each.round} ${each.of}`, each);
  if ((await log.open()) === false) return showVerdict("log");
  const count = (fault, evidence) => {
    if (fault === "waiting") counts.waiting += 1;
    else if (fault) faults.push({ fault, ...evidence });
    showCounts(counts);
  };
  const done = new Set();
  for await (const said of rounds()) {
    const { code } = fieldsOf(said.receipt);
    const mine = [...kept.values()].filter(({ round }) => round === said.round);
    counts.rounds += 1;
    counts.kept += mine.length;
    done.add(said.round);
    const fault = await faultOf(said, kept, log, keys);
    count(fault, { code, round: said.round, said, kept: mine.map(({ note }) => note) });
    if (fault !== "waiting") marks.set(said.round, fault ? "wrong" : "right");
    if ((!fault || fault === "waiting") && kept.size + counts.rounds < ROOM) await keep(said, keys);
  }
  for (const each of kept.values()) {
    if (done.has(each.round)) continue;
    counts.kept += 1;
    const { code } = fieldsOf(each.note);
    count(await faultOfKept(each, log), { code, round: each.round, said: null, kept: [each.note] });
  }
  showMarks();
  showFaults(faults, log);
  return showVerdict(faults.length ? "wrong" : "right");
}

async function press() {
  button.setAttribute("aria-disabled", "true");
  panel.setAttribute("aria-busy", "true");
  showFaults([], null);
  showVerdict("busy");
  try {
    await check();
  } catch {
    showVerdict("unread");
  }
  panel.removeAttribute("aria-busy");
  button.removeAttribute("aria-disabled");
  document.getElementById("all-rounds-result").focus();
}

if (window.crypto?.subtle) {
  button.addEventListener("click", () => button.getAttribute("aria-disabled") !== "true" && press());
  showKept();
  document.addEventListener("htmx:afterSwap", showMarks); // other rounds are listed
} else showVerdict("insecure");
