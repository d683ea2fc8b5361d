/* Verifies a round of a shoe in play, on its replay: each card with its salt and path against the root that was
   published before the first bet, and the cards that the page shows against those. Nothing is sent. */

import { leadsToRoot } from "./card_tree.js";
import { DECK } from "./shuffle.js";

const proof = document.getElementById("hand-proof");
const button = document.getElementById("verify-hand");

function showVerdict(which) {
  for (const sentence of proof.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
}

/** Return the cards of the page's proof. */
function cardsOf() {
  return [...proof.querySelectorAll("[data-card]")].map((row) => ({
    place: Number(row.dataset.position),
    card: row.dataset.card,
    salt: row.querySelector("[data-salt]").textContent.trim(),
    path: row.querySelector("[data-path]").textContent.trim().split(/\s+/),
  }));
}

async function check() {
  const { shown, root, decks, first } = proof.dataset;
  const cards = cardsOf();
  const isInRow = cards.every((card, at) => card.place === Number(first) - 1 + at);
  const found = await Promise.all(cards.map((card) => leadsToRoot(card, DECK * Number(decks), root)));
  const isShown = cards.map(({ card }) => card).join(" ") === shown;
  showVerdict(isInRow && isShown && found.every(Boolean) ? "match" : "mismatch");
}

if (!window.crypto?.subtle) showVerdict("insecure");
else {
  button.disabled = false;
  button.addEventListener("click", check);
}
