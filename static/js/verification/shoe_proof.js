/* Verifies the proof of a shoe, or of one of its rounds: every card against the root that was published before the
   first bet, the dealer's signature, and the seed where it is public. */

import { leadsToRoot, leaf, root } from "./card_tree.js";
import { entropyOf } from "./shoe_chance.js";
import {
  DECK,
  bytesOf,
  code,
  commitment,
  dealt,
  hex,
  inDealingOrder,
  number,
  salts,
  shuffled,
  thirtyTwoBytes,
  total,
} from "./shuffle.js";
import { isSigned, shoeText } from "./statements.js";

/** Return whether a coup can have this number of cards: four if a hand has a natural, else up to
    six. */
export function isCoup(cards) {
  const hasNatural = total([cards[0], cards[2]]) >= 8 || total([cards[1], cards[3]]) >= 8;
  return cards.length >= 4 && cards.length <= (hasNatural ? 4 : 6);
}

/** Return the root over all cards as they follow from the seed, in hex. */
export async function rootOf(cards, seed, { entropy, decks }) {
  const salted = await salts(seed, entropy, decks);
  const leaves = cards.map((card, place) => leaf({ place, card: code(card), salt: salted[place] }));
  return hex(await root(await Promise.all(leaves)));
}

/** Return whether the dealer signed how the shoe begins; null if this browser cannot verify that. `keys`: of dealers
    that count, if they are known. */
export async function isShoeSigned(shoe, keys) {
  if (keys && !keys.includes(shoe.dealer)) return false;
  return isSigned(await shoeText(shoe), { key: shoe.dealer, signature: shoe.signature });
}

/** Return whether a card is at its place in the shoe: by its leaf, or by its path where the proof has no leaves. */
async function isCommitted(card, { leaves, decks, root: wanted }) {
  if (!leaves) return leadsToRoot(card, DECK * decks, wanted);
  return hex(await leaf(card)) === leaves[card.place];
}

/** Return whether these cards follow each other from a position on, are committed to, and make a round. */
async function isDealt(played, first, proof) {
  const found = await Promise.all(played.map((card) => isCommitted(card, proof)));
  if (!found.every(Boolean) || played.some((card, at) => card.place !== first + at)) return false;
  const cards = played.map((card) => number(card.card));
  if (proof.purpose === "chemin") return isCoup(cards);
  return cards.length >= 4 && inDealingOrder(dealt(cards)).map(code).join(" ") === cards.map(code).join(" ");
}

/** Return whether the leaves of all cards lead to the root; without leaves, the cards do by their paths. */
async function isTree({ leaves, decks, root: wanted }) {
  if (!leaves) return true;
  return leaves.length === DECK * decks && hex(await root(leaves.map(bytesOf))) === wanted;
}

/** Return whether the burned cards begin as the proof says. At Chemin de Fer none are burned. */
async function isBurned({ purpose, burn, burned, leaves }) {
  if (purpose === "chemin") return !burn && burned === 0;
  if (burn?.place !== 0) return false;
  return !leaves || hex(await leaf(burn)) === leaves[0];
}

/** Return whether the shoe was shuffled with what players have added, and with nothing else. */
export async function isCutRight({ chances, entropy }) {
  return (await entropyOf(chances)) === entropy;
}

/** Return whether seal and root follow from the seed; undefined while it is not public. */
async function doesSeedGive(proof) {
  if (!proof.seed) return undefined;
  const seed = thirtyTwoBytes(proof.seed);
  if (!seed || (await commitment(seed, { ...proof, round: proof.id })) !== proof.commitment) return false;
  const cards = await shuffled(seed, proof.entropy, proof.decks);
  return (await rootOf(cards, seed, proof)) === proof.root;
}

/** Verify a proof. The answer has whether the root is that of the leaves (`tree`), whether the burned card is right,
    whether what players added went into the shuffle (`cut`; undefined: the proof does not name it), whether the dealer signed (null: this browser cannot verify it), whether the seed gives the shoe (undefined: it is
    not public), and of each round by its id whether it is right. A proof with leaves has all rounds that are over. */
export async function verifyShoe(proof, keys) {
  const rounds = new Map();
  let next = proof.leaves ? proof.burned : proof.rounds[0].cards[0].place;
  for (const { id, cards } of proof.rounds) {
    rounds.set(id, await isDealt(cards, next, proof)); // one after another: each begins where the last ended
    next += cards.length;
  }
  return {
    tree: await isTree(proof),
    burn: await isBurned(proof),
    cut: proof.chances && (await isCutRight(proof)),
    isSigned: await isShoeSigned(proof, keys),
    seed: await doesSeedGive(proof),
    rounds,
  };
}
