/* Checks a shoe that has ended in the reader's own browser: its seal, what was burned, and every round dealt from it, in
   their order and with none left out. The arithmetic stands in shuffle.js. */
"use strict";

const shoe = document.getElementById("shoe");
const rows = [...shoe.querySelectorAll("[data-cards]")];

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

async function check() {
  const said = shoe.dataset;
  const seed = thirtyTwoBytes(said.seed);
  if (!seed || (await fingerprint(seed)) !== said.seal) return say("seal");
  const cards = await shuffled(seed, "", Number(said.decks));
  const rounds = dealtThrough(cards);
  const isBurnedRight = code(cards[0]) === said.burnCard && burned(cards) === Number(said.burned);
  const areRight = rows.map((row, place) => follows(row, rounds[place]));
  const isWhole = said.retired === "yes" || rows.length === rounds.length;
  return say(isBurnedRight && isWhole && areRight.every(Boolean) ? "match" : "mismatch");
}

if (!window.crypto?.subtle) say("insecure");
else check();
