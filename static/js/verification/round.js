/* Verifies a finished round in the reader's browser: from the seal and what it names, the seed and the
   value that was mixed in to the cards and the outcome. shuffle.js has the arithmetic. */

import { DECK, RANKS, commitment, dealt, shuffled, thirtyTwoBytes, total } from "./shuffle.js";

const MOST_DECKS = 8;
const MOST_CARDS = 6; // of a round
const SUITS = [
  { name: "clubs", symbol: "♣" },
  { name: "diamonds", symbol: "♦" },
  { name: "hearts", symbol: "♥" },
  { name: "spades", symbol: "♠" },
];

const form = document.getElementById("check");
const fields = form.elements;
const answer = document.getElementById("answer");

/** Show one of the verdicts in the page, and hide the others. */
function showVerdict(which) {
  for (const sentence of document.querySelectorAll("[data-verdict]")) {
    sentence.hidden = sentence.dataset.verdict !== which;
  }
  answer.hidden = which !== "match" && which !== "mismatch";
}

function layHand(side, hand) {
  const deck = document.getElementById("deck").content.children;
  const place = answer.querySelector(`.hand--${side}`);
  const cards = hand.map((card) => deck[card].cloneNode(true));
  if (cards[2]) cards[2].classList.add("card--third");
  place.querySelector(".hand__cards").replaceChildren(...cards);
  place.querySelector(".hand__score").textContent = `${total(hand.slice(0, 2))}:${total(hand)}`;
}

function announcement(playerTotal, bankerTotal) {
  const sentences = answer.dataset;
  if (playerTotal === bankerTotal) return sentences.tie.replace("%(total)d", playerTotal);
  const [high, low] = [Math.max(playerTotal, bankerTotal), Math.min(playerTotal, bankerTotal)];
  const sentence = playerTotal > bankerTotal ? sentences.player : sentences.banker;
  return sentence.replace("%(high)d", high).replace("%(low)d", low);
}

function inWriting(card) {
  const suit = SUITS[Math.floor(card / RANKS)];
  const entry = document.createElement("li");
  entry.className = `mini mini--${suit.name}`;
  entry.textContent = "A 2 3 4 5 6 7 8 9 10 J Q K".split(" ")[card % RANKS] + suit.symbol;
  return entry;
}

function lay(cards, first) {
  const { player, banker } = dealt(cards, first);
  layHand("player", player);
  layHand("banker", banker);
  answer.querySelector(".call__result").textContent = announcement(total(player), total(banker));
  const entries = cards.map(inWriting);
  const round = player.length + banker.length;
  for (const entry of entries.slice(first, first + round)) entry.classList.add("mini--dealt");
  document.getElementById("order").replaceChildren(...entries);
}

async function check() {
  if (!window.crypto?.subtle) return showVerdict("insecure");
  const seal = fields.commitment.value.trim().toLowerCase();
  const seed = thirtyTwoBytes(fields.seed.value.trim());
  const decks = Number(fields.decks.value);
  if (!thirtyTwoBytes(seal)) return showVerdict("seal");
  if (!seed) return showVerdict("seed");
  if (!Number.isInteger(decks) || decks < 1 || decks > MOST_DECKS) return showVerdict("decks");
  const first = Number(fields.first.value);
  if (!Number.isInteger(first) || first < 1 || first > decks * DECK - MOST_CARDS + 1) return showVerdict("first");
  lay(await shuffled(seed, fields.value.value, decks), first - 1);
  const named = Object.fromEntries(
    ["purpose", "round", "table", "rules"].map((name) => [name, fields[name].value.trim().toLowerCase()]),
  );
  return showVerdict((await commitment(seed, { ...named, decks })) === seal ? "match" : "mismatch");
}

/** If the URL has a link to the result, scroll to it, now that it exists. */
function bringIntoView() {
  const result = document.getElementById("check-result");
  if (location.hash !== `#${result.id}`) return;
  result.focus({ preventScroll: true });
  result.scrollIntoView();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
// Before this script runs, the button would submit the form to the server.
form.querySelector("button").disabled = false;
if (!window.crypto?.subtle) showVerdict("insecure");
else if (fields.commitment.value && fields.seed.value) check().then(bringIntoView);
