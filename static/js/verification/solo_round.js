/* Verifies a solo round that this browser has dealt, against the seal and the value that it kept. */

import { code, commitment, dealt, inDealingOrder, shuffled, thirtyTwoBytes } from "./shuffle.js";

/** Return what is wrong with a round: "cards" if they do not follow from the seal, "value" if it was dealt with a
    value that this browser did not send, "" if nothing. `kept`: as in kept_rounds.js. `said`: what the server says. */
export async function faultOf(kept, said) {
  const seed = thirtyTwoBytes(said.seed);
  if (said.round !== kept.round || !seed || (await commitment(seed, kept)) !== kept.commitment) return "cards";
  const cards = inDealingOrder(dealt(await shuffled(seed, said.value, kept.decks)));
  if (cards.map(code).join(" ") !== said.cards) return "cards";
  return kept.sent.includes(said.value) ? "" : "value";
}
