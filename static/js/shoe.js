/* Checks a shoe that has ended in the reader's own browser: its seal, what was burned, and every round dealt from it, in
   their order and with none left out. Where guests play each other, how many cards a coup took is theirs to say. The
   arithmetic stands in shuffle.js. */
"use strict";

const shoe = document.getElementById("shoe");
const said = shoe.dataset;
const rows = [...shoe.querySelectorAll("[data-cards]")];
const isBetweenGuests = said.guests === "yes";

/** Show one of the sentences that wait in the page. */
function say(which) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
}

/** Whether what is said of a round follows from the seed; the mark is put beside it. */
function follows(row, round) {
  const isRight =
    round !== undefined && row.dataset.cards === round.cards.map(code).join(" ") && row.dataset.first === String(round.first);
  row.querySelector("[data-right]").hidden = !isRight;
  row.querySelector("[data-wrong]").hidden = isRight;
  return isRight;
}

/** Whether a coup can have taken so many cards: four where a hand has a natural, otherwise up to six. */
function isCoup(cards) {
  const hasNatural = total([cards[0], cards[2]]) >= 8 || total([cards[1], cards[3]]) >= 8;
  return cards.length >= 4 && cards.length <= (hasNatural ? 4 : 6);
}

/** The coups of a shoe between guests, one behind the other from its first card on, each as long as its row says. */
function dealtBetweenGuests(cards) {
  let first = 0;
  return rows.map((row) => {
    const round = { first, cards: cards.slice(first, first + row.dataset.cards.split(" ").length) };
    first += round.cards.length;
    return isCoup(round.cards) ? round : undefined;
  });
}

/** Whether a coup began before the cut card and took the cards up to it: then none comes after it. */
function reachesCutCard(round, cards) {
  const cut = cards.length - CUT_CARD;
  return round !== undefined && round.first < cut && round.first + round.cards.length >= cut;
}

/** Whether as much was burned as the first card says; between guests nothing is. */
function isBurnedRight(cards) {
  if (isBetweenGuests) return said.burnCard === "" && said.burned === "0";
  return code(cards[0]) === said.burnCard && burned(cards) === Number(said.burned);
}

async function check() {
  const seed = thirtyTwoBytes(said.seed);
  if (!seed || (await fingerprint(seed)) !== said.seal) return say("seal");
  const cards = await shuffled(seed, "", Number(said.decks));
  const rounds = isBetweenGuests ? dealtBetweenGuests(cards) : dealtThrough(cards);
  const areRight = rows.map((row, place) => follows(row, rounds[place]));
  const isDealtThrough = isBetweenGuests ? reachesCutCard(rounds.at(-1), cards) : rows.length === rounds.length;
  const isWhole = said.retired === "yes" || isDealtThrough;
  return say(isBurnedRight(cards) && isWhole && areRight.every(Boolean) ? "match" : "mismatch");
}

if (!window.crypto?.subtle) say("insecure");
else check();
