/* Checks a finished round in the reader's own browser, with Web Crypto: from the seal, the seed, the player's own value
   and the number of decks to the cards and the outcome. What the steps are, the page says in words. */
"use strict";

const DECK = 52;
const RANKS = 13;
const DRAWS = 1 << 16;
const HKDF_BITS = 255 * 32 * 8; // the most that HKDF gives with SHA-256
const MOST_DECKS = 8;
const SUITS = [
  { name: "clubs", symbol: "♣" },
  { name: "diamonds", symbol: "♦" },
  { name: "hearts", symbol: "♥" },
  { name: "spades", symbol: "♠" },
];

/** Banker's total of two cards, and the points of Player's third card against which Banker draws. */
const BANKER_DRAWS_AGAINST = ["0123456789", "0123456789", "0123456789", "012345679", "234567", "4567", "67", ""];

/* --- From the seed to the cards: a card is its place in the unshuffled deck, 0 to 51 -------------------------------- */

const utf8 = new TextEncoder();

/** The bytes that hex digits spell; null where they do not spell 32. */
function thirtyTwoBytes(hex) {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return null;
  return Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
}

/** SHA-256 in hex. */
async function fingerprint(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The stream of bytes that the seed is stretched to. */
async function stretched(seed, value, decks) {
  const key = await crypto.subtle.importKey("raw", seed, "HKDF", false, ["deriveBits"]);
  const info = utf8.encode(`sabot shuffle v1, decks=${decks}`);
  return crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: utf8.encode(value), info }, key, HKDF_BITS);
}

/** All cards in the order they are dealt. */
async function shuffled(seed, value, decks) {
  const cards = Array.from({ length: DECK * decks }, (_, place) => place % DECK);
  const bytes = new DataView(await stretched(seed, value, decks));
  let read = 0;
  for (let choices = cards.length; choices > 1; choices -= 1) {
    const limit = DRAWS - (DRAWS % choices);
    let draw = limit;
    while (draw >= limit) {
      draw = bytes.getUint16(read);
      read += 2;
    }
    const last = choices - 1;
    const chosen = draw % choices;
    [cards[last], cards[chosen]] = [cards[chosen], cards[last]];
  }
  return cards;
}

/** Ace one, two to nine at face value, the rest nothing. */
function points(card) {
  const rank = card % RANKS;
  return rank < 9 ? rank + 1 : 0;
}

function total(hand) {
  return hand.reduce((sum, card) => sum + points(card), 0) % 10;
}

/** Both hands of the round, from the front of the cards. */
function dealt(cards) {
  const player = [cards[0], cards[2]];
  const banker = [cards[1], cards[3]];
  const [playerTotal, bankerTotal] = [total(player), total(banker)];
  if (playerTotal >= 8 || bankerTotal >= 8) return { player, banker };
  let next = 4;
  let bankerDraws = bankerTotal <= 5;
  if (playerTotal <= 5) {
    const third = cards[next];
    next += 1;
    player.push(third);
    bankerDraws = BANKER_DRAWS_AGAINST[bankerTotal].includes(String(points(third)));
  }
  if (bankerDraws) banker.push(cards[next]);
  return { player, banker };
}

/* --- What the page shows -------------------------------------------------------------------------------------------- */

const form = document.getElementById("check");
const fields = form.elements;
const answer = document.getElementById("answer");

/** Show one of the sentences that wait in the page, and none of the others. */
function say(which) {
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

function lay(cards) {
  const { player, banker } = dealt(cards);
  layHand("player", player);
  layHand("banker", banker);
  answer.querySelector(".call__result").textContent = announcement(total(player), total(banker));
  document.getElementById("order").replaceChildren(...cards.map(inWriting));
}

async function check() {
  if (!window.crypto?.subtle) return say("insecure");
  const seal = fields.commitment.value.trim().toLowerCase();
  const seed = thirtyTwoBytes(fields.seed.value.trim());
  const decks = Number(fields.decks.value);
  if (!thirtyTwoBytes(seal)) return say("seal");
  if (!seed) return say("seed");
  if (!Number.isInteger(decks) || decks < 1 || decks > MOST_DECKS) return say("decks");
  lay(await shuffled(seed, fields.value.value, decks));
  return say((await fingerprint(seed)) === seal ? "match" : "mismatch");
}

/** Whoever came by a link to the result is taken to it, now that it has its place. */
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
// Pressed before, it would send the form and load the page anew.
form.querySelector("button").disabled = false;
if (!window.crypto?.subtle) say("insecure");
else if (fields.commitment.value && fields.seed.value) check().then(bringIntoView);
