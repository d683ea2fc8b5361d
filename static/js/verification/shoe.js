/* Verifies a shoe in the reader's browser: that what players added went into the shuffle. When it has ended: its seal,
   its root, the burned cards, and every round dealt from it, in order and without gaps. While it is in play: every
   round that is over, card by card, against the root that was published before the first bet. At Chemin de Fer the
   players' decisions determine how many cards a coup took. shoe_proof.js and shuffle.js have the arithmetic. */

import { CUT_CARD, burned, code, commitment, dealtThrough, shuffled, thirtyTwoBytes } from "./shuffle.js";
import { isCoup, isCutRight, isShoeSigned, rootOf, verifyShoe } from "./shoe_proof.js";

const shoe = document.getElementById("shoe");
const claims = shoe.dataset;
const isChemin = claims.purpose === "chemin";
const keys = claims.keys.split(" ").filter(Boolean);

/** Show one of the verdicts in the page, and whether the browser could not verify the signature. */
function showVerdict(which, signed = true) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
  document.getElementById("unsigned").hidden = signed !== null;
}

/** Show a round on the page as right or wrong, and return which. */
function showMatch(row, isRight) {
  row.querySelector("[data-right]").hidden = !isRight;
  row.querySelector("[data-wrong]").hidden = isRight;
  return isRight;
}

/** Return whether a round on the page follows from the seed, and show it. */
function follows(row, round) {
  const isRight =
    round !== undefined &&
    row.dataset.cards === round.cards.map(code).join(" ") &&
    row.dataset.first === String(round.first);
  return showMatch(row, isRight);
}

/** Return the coups of a shoe at Chemin de Fer: in order from the first card, each as long as
    its row. */
function dealtAtChemin(cards, rows) {
  let first = 0;
  return rows.map((row) => {
    const round = { first, cards: cards.slice(first, first + row.dataset.cards.split(" ").length) };
    first += round.cards.length;
    return isCoup(round.cards) ? round : undefined;
  });
}

/** Return whether a coup began before the cut card and reached it: then it is the last one. */
function reachesCutCard(round, cards) {
  const cut = cards.length - CUT_CARD;
  return round !== undefined && round.first < cut && round.first + round.cards.length >= cut;
}

/** Return whether the number of burned cards matches the first card. At Chemin de Fer none are
    burned. */
function isBurnedRight(cards) {
  if (isChemin) return claims.burnCard === "" && claims.burned === "0";
  return code(cards[0]) === claims.burnCard && burned(cards) === Number(claims.burned);
}

/** Return whether a dealer that counts signed how the shoe begins; null if this browser cannot verify that. */
function isSigned() {
  const { id, dealer, signature, purpose, table, decks, rules, root, entropy } = claims;
  const burn = claims.burnCard ? { card: claims.burnCard } : null;
  const opened = { root, entropy, commitment: claims.seal, burn, burned: claims.burned, cut: claims.cut };
  return isShoeSigned({ id, dealer, signature, purpose, table, decks, rules, ...opened }, keys);
}

/** Verify a shoe whose seed is public. */
async function checkSeed() {
  const rows = [...shoe.querySelectorAll("[data-cards]")];
  const seed = thirtyTwoBytes(claims.seed);
  const named = { ...claims, round: claims.id, rules: claims.rules };
  if (!seed || (await commitment(seed, named)) !== claims.seal) return showVerdict("seal");
  const chances = claims.chances ? claims.chances.split(",") : [];
  if (!(await isCutRight({ chances, entropy: claims.entropy }))) return showVerdict("mismatch");
  const cards = await shuffled(seed, claims.entropy, Number(claims.decks));
  const isRoot = (await rootOf(cards, seed, { ...claims, decks: Number(claims.decks) })) === claims.root;
  if (!isRoot) return showVerdict("seal");
  const rounds = isChemin ? dealtAtChemin(cards, rows) : dealtThrough(cards);
  const areRight = rows.map((row, place) => follows(row, rounds[place]));
  const isDealtThrough = isChemin ? reachesCutCard(rounds.at(-1), cards) : rows.length === rounds.length;
  const isWhole = claims.retired === "yes" || isDealtThrough;
  if (!isBurnedRight(cards) || !isWhole || !areRight.every(Boolean)) return showVerdict("mismatch");
  const signed = await isSigned();
  return showVerdict(signed === false ? "signature" : "match", signed);
}

/** Verify the rounds that are over of a shoe whose seed is not public, from its proof. */
async function checkProof() {
  const proof = await (await fetch(claims.proof)).json();
  const isSame = proof.root === claims.root && proof.commitment === claims.seal;
  const found = await verifyShoe(proof, keys);
  if (!isSame || !found.tree) return showVerdict("proof-seal");
  const rows = [...shoe.querySelectorAll("[data-over]")];
  const areRight = rows.map((row) => showMatch(row, found.rounds.get(row.dataset.over) === true));
  const isBurned = found.burn && (proof.burn?.card ?? "") === claims.burnCard;
  if (!isBurned || !found.cut || !areRight.every(Boolean)) return showVerdict("proof-mismatch");
  return showVerdict(found.isSigned === false ? "signature" : "proof-match", found.isSigned);
}

const button = document.getElementById("verify-shoe");
if (!window.crypto?.subtle) showVerdict("insecure");
else if (claims.seed) checkSeed();
else {
  button.disabled = false;
  button.addEventListener("click", () => checkProof().catch(() => showVerdict("proof-unread")));
}
