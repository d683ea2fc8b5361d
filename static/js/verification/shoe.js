/* Verifies a shoe in the reader's browser: that what players added went into the shuffle. When it has ended: its seal,
   its root, the burned cards, and every round dealt from it, in order and without gaps. While it is in play: every
   round that is over, card by card, against the root that was published before the first bet. At Chemin de Fer the
   players' decisions determine how many cards a coup took. shuffle.js and card_tree.js have the arithmetic. */

import { leaf, root } from "./card_tree.js";
import { entropyOf } from "./shoe_chance.js";
import {
  CUT_CARD,
  DECK,
  burned,
  bytesOf,
  code,
  commitment,
  dealt,
  dealtThrough,
  hex,
  inDealingOrder,
  number,
  salts,
  shuffled,
  thirtyTwoBytes,
  total,
} from "./shuffle.js";

const shoe = document.getElementById("shoe");
const claims = shoe.dataset;
const isChemin = claims.purpose === "chemin";
const size = DECK * Number(claims.decks);

/** Show one of the verdicts in the page. */
function showVerdict(which) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
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

/** Return whether a coup can have this number of cards: four if a hand has a natural, else up to
    six. */
function isCoup(cards) {
  const hasNatural = total([cards[0], cards[2]]) >= 8 || total([cards[1], cards[3]]) >= 8;
  return cards.length >= 4 && cards.length <= (hasNatural ? 4 : 6);
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

/** Return the root over all cards as they follow from the seed, in hex. */
async function rootOf(cards, seed) {
  const salted = await salts(seed, claims.entropy, Number(claims.decks));
  const leaves = cards.map((card, place) => leaf({ place, card: code(card), salt: salted[place] }));
  return hex(await root(await Promise.all(leaves)));
}

/** Return whether the shoe was shuffled with what players have added, and with nothing else. */
async function isCutRight() {
  return (await entropyOf(claims.chances ? claims.chances.split(",") : [])) === claims.entropy;
}

/** Verify a shoe whose seed is public. */
async function checkSeed() {
  const rows = [...shoe.querySelectorAll("[data-cards]")];
  const seed = thirtyTwoBytes(claims.seed);
  const named = { ...claims, round: claims.id, rules: claims.rules };
  if (!seed || (await commitment(seed, named)) !== claims.seal) return showVerdict("seal");
  if (!(await isCutRight())) return showVerdict("mismatch");
  const cards = await shuffled(seed, claims.entropy, Number(claims.decks));
  if ((await rootOf(cards, seed)) !== claims.root) return showVerdict("seal");
  const rounds = isChemin ? dealtAtChemin(cards, rows) : dealtThrough(cards);
  const areRight = rows.map((row, place) => follows(row, rounds[place]));
  const isDealtThrough = isChemin ? reachesCutCard(rounds.at(-1), cards) : rows.length === rounds.length;
  const isWhole = claims.retired === "yes" || isDealtThrough;
  return showVerdict(isBurnedRight(cards) && isWhole && areRight.every(Boolean) ? "match" : "mismatch");
}

/** Return whether all these cards are committed to and lie one behind the other from a place on, and make a round. */
async function isDealt(played, first, leaves) {
  const found = await Promise.all(played.map(async (card) => hex(await leaf(card)) === leaves[card.place]));
  if (!found.every(Boolean) || played.some((card, at) => card.place !== first + at)) return false;
  const cards = played.map((card) => number(card.card));
  if (isChemin) return isCoup(cards);
  return cards.length >= 4 && inDealingOrder(dealt(cards)).map(code).join(" ") === cards.map(code).join(" ");
}

/** Verify the rounds that are over of a shoe whose seed is not public, from its proof. */
async function checkProof() {
  const proof = await (await fetch(claims.proof)).json();
  const { leaves } = proof;
  const isTree = leaves.length === size && hex(await root(leaves.map(bytesOf))) === claims.root;
  if (!isTree || proof.commitment !== claims.seal) return showVerdict("proof-seal");
  let next = Number(claims.burned);
  const hasBurn = proof.burn?.card === claims.burnCard && hex(await leaf(proof.burn)) === leaves[0];
  const areRight = [isChemin || hasBurn, await isCutRight()];
  for (const row of shoe.querySelectorAll("[data-over]")) {
    const played = proof.rounds.find((round) => round.id === row.dataset.over)?.cards ?? [];
    areRight.push(showMatch(row, await isDealt(played, next, leaves))); // one after another: each begins where the last ended
    next += played.length;
  }
  return showVerdict(areRight.every(Boolean) ? "proof-match" : "proof-mismatch");
}

const button = document.getElementById("verify-shoe");
if (!window.crypto?.subtle) showVerdict("insecure");
else if (claims.seed) checkSeed();
else {
  button.disabled = false;
  button.addEventListener("click", () => checkProof().catch(() => showVerdict("proof-unread")));
}
