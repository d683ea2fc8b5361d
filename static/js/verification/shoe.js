/* Verifies a finished shoe in the reader's browser: its seal, the burned cards, and every round
   dealt from it, in order and without gaps. At Chemin de Fer the players' decisions determine
   how many cards a coup took. shuffle.js has the arithmetic. */

import { CUT_CARD, burned, code, dealtThrough, fingerprint, shuffled, thirtyTwoBytes, total } from "./shuffle.js";

const shoe = document.getElementById("shoe");
const claims = shoe.dataset;
const rows = [...shoe.querySelectorAll("[data-cards]")];
const isChemin = claims.guests === "yes";

/** Show one of the verdicts in the page. */
function showVerdict(which) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
}

/** Return whether a round on the page follows from the seed, and mark it so. */
function follows(row, round) {
  const isRight =
    round !== undefined &&
    row.dataset.cards === round.cards.map(code).join(" ") &&
    row.dataset.first === String(round.first);
  row.querySelector("[data-right]").hidden = !isRight;
  row.querySelector("[data-wrong]").hidden = isRight;
  return isRight;
}

/** Return whether a coup can have this number of cards: four if a hand has a natural, else up to
    six. */
function isCoup(cards) {
  const hasNatural = total([cards[0], cards[2]]) >= 8 || total([cards[1], cards[3]]) >= 8;
  return cards.length >= 4 && cards.length <= (hasNatural ? 4 : 6);
}

/** Return the coups of a shoe at Chemin de Fer: in order from the first card, each as long as
    its row. */
function dealtAtChemin(cards) {
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

async function check() {
  const seed = thirtyTwoBytes(claims.seed);
  if (!seed || (await fingerprint(seed)) !== claims.seal) return showVerdict("seal");
  const cards = await shuffled(seed, "", Number(claims.decks));
  const rounds = isChemin ? dealtAtChemin(cards) : dealtThrough(cards);
  const areRight = rows.map((row, place) => follows(row, rounds[place]));
  const isDealtThrough = isChemin ? reachesCutCard(rounds.at(-1), cards) : rows.length === rounds.length;
  const isWhole = claims.retired === "yes" || isDealtThrough;
  return showVerdict(isBurnedRight(cards) && isWhole && areRight.every(Boolean) ? "match" : "mismatch");
}

if (!window.crypto?.subtle) showVerdict("insecure");
else check();
