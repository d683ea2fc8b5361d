/* The page that verifies proofs without a network. It is saved with all its modules in one file
   (games/history/card_proofs.py). The proof is in the page, or in a file that the reader opens. */

import { verifyShoe } from "./shoe_proof.js";
import { verifyRound } from "./solo_round.js";

const inside = document.getElementById("proof").textContent.trim();
const result = document.getElementById("result");
const noted = { seal: document.getElementById("noted-seal"), key: document.getElementById("noted-key") };

let shown = null; // the proof that is on the page
let asked = 0; // how often a check has begun: only the last one is shown

/** Return a proof in the form of our files, also where the table page has saved it after it had found a fault. */
function normalised(given) {
  if (!given.purpose) throw new TypeError("not a proof");
  return given.proof ? { ...given, ...given.proof, id: given.round } : given;
}

/** Verify a solo round. Return by name which checks hold; null if this browser cannot make one. */
async function checkRound(proof) {
  const keys = proof.keys ?? [proof.dealer];
  const kept = { ...proof, round: proof.id, keys, sent: proof.sent ?? [proof.player_value] };
  const { fault, isSigned } = await verifyRound(kept, { ...proof, round: proof.id });
  const checks = { cards: fault !== "cards" };
  if (proof.sent) checks.value = fault !== "value";
  if (fault !== "cards" && fault !== "value") checks.deal = fault === "signature" ? false : isSigned || null;
  return checks;
}

/** Verify a shoe, or a round of it. */
async function checkShoe(proof) {
  const { tree, burn, cut, isSigned, seed, rounds } = await verifyShoe(proof);
  const areRight = proof.rounds.map(({ id }) => rounds.get(id));
  const checks = { root: tree && areRight.every(Boolean), burn, chances: cut, shoe: isSigned };
  if (seed !== undefined) checks.seed = seed;
  return { checks, areRight };
}

/** Compare what the reader has noted before the bets with the proof. */
function checkNoted(proof) {
  const [seal, key] = [noted.seal.value, noted.key.value].map((text) => text.trim().toLowerCase());
  const checks = {};
  if (seal) checks["noted-seal"] = seal === proof.commitment || seal === proof.root;
  if (key) checks["noted-key"] = (proof.keys ?? [proof.dealer]).includes(key);
  return checks;
}

function showFacts(proof) {
  const stakes = proof.stakes && Object.entries(proof.stakes).map(([bet, amount]) => `${bet} ${amount}`);
  const facts = { ...proof, dealer: (proof.keys ?? [proof.dealer]).join(" "), stakes: stakes?.join(", ") };
  for (const fact of result.querySelectorAll("[data-fact]")) {
    const value = facts[fact.dataset.fact];
    fact.textContent = value ?? "";
    fact.parentElement.hidden = value === undefined || value === null || value === "";
  }
}

function showRounds(proof, areRight) {
  const entries = (proof.rounds ?? []).map(({ number, code, cards }, at) => {
    const entry = document.createElement("li");
    entry.dataset.holds = areRight[at];
    entry.textContent = [number, code, ...cards.map(({ card }) => card)].join(" ");
    return entry;
  });
  document.getElementById("rounds").replaceChildren(...entries);
}

function showVerdict(which) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
}

async function check() {
  asked += 1;
  const turn = asked;
  const proof = normalised(shown);
  const ofShoe = proof.rounds ? await checkShoe(proof) : null;
  const checks = { ...(ofShoe?.checks ?? (await checkRound(proof))), ...checkNoted(proof) };
  if (turn !== asked) return;
  for (const line of result.querySelectorAll("[data-check]")) {
    const holds = checks[line.dataset.check];
    line.hidden = holds === undefined;
    line.dataset.holds = holds === null ? "unknown" : holds;
  }
  showFacts(proof);
  showRounds(proof, ofShoe?.areRight);
  result.hidden = false;
  showVerdict(Object.values(checks).includes(false) ? "mismatch" : "match");
}

/** Show a proof in JSON, or a saved page that has one, and verify it. */
async function open(text) {
  try {
    const page = text.trimStart().startsWith("<") ? new DOMParser().parseFromString(text, "text/html") : null;
    shown = JSON.parse(page ? page.getElementById("proof").textContent : text);
    await check();
  } catch {
    shown = null;
    result.hidden = true;
    showVerdict("unread");
  }
}

function begin() {
  document.getElementById("open").addEventListener("change", async ({ target }) => open(await target.files[0].text()));
  for (const field of Object.values(noted)) field.addEventListener("input", () => shown && check());
  if (inside) open(inside);
}

if (window.crypto?.subtle) begin();
else showVerdict("insecure");
