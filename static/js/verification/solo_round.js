/* Verifies a solo round against the seal, the value and the dealer's keys that were known before it. */

import { code, commitment, dealt, inDealingOrder, shuffled, thirtyTwoBytes, total } from "./shuffle.js";
import { dealText, isSigned } from "./statements.js";

/** Return who won a round by its cards. */
function outcomeOf({ player, banker }) {
  if (total(player) === total(banker)) return "tie";
  return total(player) > total(banker) ? "player" : "banker";
}

/** Return whether one of these keys signed the deal as it is shown; null if this browser cannot verify that. */
async function isDealSigned(kept, said, hands) {
  const answers = [];
  for (const key of kept.keys) {
    const round = { ...kept, ...said, id: kept.round, dealer: key, outcome: outcomeOf(hands) };
    answers.push(await isSigned(await dealText(round), { key, signature: said.signature }));
  }
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

/** Return what is wrong with a round: "cards" if they do not follow from the seal, "value" if it was dealt with a
    value that this browser did not send, "signature" if no dealer that was known before signed these cards, stakes and
    this value, "" if nothing; and whether the signature was verified. `kept`: as in kept_rounds.js. `said`: what the
    server says. */
export async function verifyRound(kept, said) {
  const seed = thirtyTwoBytes(said.seed);
  if (said.round !== kept.round || !seed || (await commitment(seed, kept)) !== kept.commitment) {
    return { fault: "cards" };
  }
  const hands = dealt(await shuffled(seed, said.player_value, kept.decks));
  if (inDealingOrder(hands).map(code).join(" ") !== said.cards) return { fault: "cards" };
  if (!kept.sent.includes(said.player_value)) return { fault: "value" };
  const isVerified = await isDealSigned(kept, said, hands);
  return { fault: isVerified === false ? "signature" : "", isSigned: isVerified === true };
}
