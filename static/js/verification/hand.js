/* Verifies a round of a shoe in play, on its replay: each card with its salt and path against the root that was
   published before the first bet, the dealer's signature, and the cards that the page shows against those. */

import { verifyShoe } from "./shoe_proof.js";

const page = document.getElementById("hand-proof");
const button = document.getElementById("verify-hand");

function showVerdict(which, signed = true) {
  for (const sentence of page.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
  document.getElementById("unsigned").hidden = signed !== null;
}

async function check() {
  const { shown, root, seal, first, keys } = page.dataset;
  const proof = await (await fetch(page.dataset.proof)).json();
  const [{ cards, id }] = proof.rounds;
  const found = await verifyShoe(proof, keys.split(" ").filter(Boolean));
  const isShown = cards.map(({ card }) => card).join(" ") === shown && cards[0].place === Number(first) - 1;
  const isSame = isShown && proof.root === root && proof.commitment === seal;
  const isRight = isSame && found.rounds.get(id) && found.isSigned !== false && found.seed !== false;
  showVerdict(isRight ? "match" : "mismatch", found.isSigned);
}

if (!window.crypto?.subtle) showVerdict("insecure");
else {
  button.disabled = false;
  button.addEventListener("click", () => check().catch(() => showVerdict("unread")));
}
