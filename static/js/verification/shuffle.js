/* Computes in the reader's browser, with Web Crypto, what follows from a seed: the order of the
   cards and the rounds. A card is its index in the unshuffled deck, 0 to 51. The page on fair
   deals describes the steps. */

export const DECK = 52;
export const RANKS = 13;
const DRAWS = 1 << 16;
export const CUT_CARD = 14; // cards behind it, in a shoe
const TENS_BURN = 10;
const HKDF_BITS = 255 * 32 * 8; // the maximum of HKDF with SHA-256
const SALT = 16; // bytes

/** By Banker's two-card total: the points of Player's third card against which Banker draws. */
const BANKER_DRAWS_AGAINST = ["0123456789", "0123456789", "0123456789", "012345679", "234567", "4567", "67", ""];

const utf8 = new TextEncoder();

/** Return the bytes of digits in hex. */
export function bytesOf(digits) {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** Return the bytes of a hex string, or null if it does not have 32. */
export function thirtyTwoBytes(digits) {
  return /^[0-9a-f]{64}$/i.test(digits) ? bytesOf(digits) : null;
}

/** Return bytes in hex. */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Return the SHA-256 in hex. */
async function fingerprint(bytes) {
  return hex(await sha256(bytes));
}

/** Return the commitment to the seed of a round, or of a shoe, in hex. `round`: the id of either. */
export function commitment(seed, { purpose, round, table, decks, rules }) {
  const digits = hex(seed);
  const named = [`purpose=${purpose}`, `id=${round}`, `table=${table}`, `decks=${decks}`, `rules=${rules}`];
  const lines = ["sabot commitment v2", ...named, `seed=${digits}`];
  return fingerprint(utf8.encode(lines.map((line) => `${line}\n`).join("")));
}

/** Return the bytes to which HKDF expands the seed. */
async function stretched(seed, value, purpose) {
  const key = await crypto.subtle.importKey("raw", seed, "HKDF", false, ["deriveBits"]);
  const [salt, info] = [utf8.encode(value), utf8.encode(purpose)];
  return crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, HKDF_BITS);
}

/** Return the salts of all cards of a shoe, in hex. */
export async function salts(seed, value, decks) {
  const digits = hex(new Uint8Array(await stretched(seed, value, "sabot salts v1")));
  return Array.from({ length: DECK * decks }, (_, place) => digits.slice(2 * SALT * place, 2 * SALT * (place + 1)));
}

/** Return all cards in dealing order. */
export async function shuffled(seed, value, decks) {
  const cards = Array.from({ length: DECK * decks }, (_, place) => place % DECK);
  const bytes = new DataView(await stretched(seed, value, `sabot shuffle v1, decks=${decks}`));
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

/** Return the points of a card: ace one, two to nine at face value, ten and pictures zero. */
function points(card) {
  const rank = card % RANKS;
  return rank < 9 ? rank + 1 : 0;
}

export function total(hand) {
  return hand.reduce((sum, card) => sum + points(card), 0) % 10;
}

/** Return both hands of the round that begins with this card. */
export function dealt(cards, first = 0) {
  const player = [cards[first], cards[first + 2]];
  const banker = [cards[first + 1], cards[first + 3]];
  const [playerTotal, bankerTotal] = [total(player), total(banker)];
  if (playerTotal >= 8 || bankerTotal >= 8) return { player, banker };
  let next = first + 4;
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

/** Return the cards of a round in dealing order. */
export function inDealingOrder({ player, banker }) {
  return [player[0], banker[0], player[1], banker[1], ...player.slice(2), ...banker.slice(2)];
}

/** Return the number of burned cards: the first one, and as many more as its value, ten for tens
    and pictures. */
export function burned(cards) {
  return 1 + (points(cards[0]) || TENS_BURN);
}

/** Return every round of a shoe that is dealt through. The last one follows the round with the
    cut card. */
export function dealtThrough(cards) {
  const rounds = [];
  let [first, isLast] = [burned(cards), false];
  while (!isLast) {
    isLast = first > cards.length - CUT_CARD;
    const round = inDealingOrder(dealt(cards, first));
    rounds.push({ first, cards: round });
    first += round.length;
  }
  return rounds;
}

/** Return the house's notation of a card: its rank and its suit, a character each. */
export function code(card) {
  return "A23456789TJQK"[card % RANKS] + "CDHS"[Math.floor(card / RANKS)];
}

/** Return the card that has this notation, or -1. */
export function number(notation) {
  const [rank, suit] = ["A23456789TJQK".indexOf(notation[0]), "CDHS".indexOf(notation[1])];
  return rank < 0 || suit < 0 ? -1 : suit * RANKS + rank;
}
