/* The statements of the dealer and its signature (Ed25519). docs/randomness.md has every byte. */

import { bytesOf, hex, sha256 } from "./shuffle.js";

const utf8 = new TextEncoder();
const digest = async (text) => hex(await sha256(utf8.encode(text)));
const linesOf = (lines) => lines.map((line) => `${line}\n`).join("");
const named = ({ purpose, id, table, decks, rules }) =>
  linesOf([`purpose=${purpose}`, `id=${id}`, `table=${table}`, `decks=${decks}`, `rules=${rules}`]);

/** Return the text that the dealer signs of a solo round. `stakes`: minor units by bet. */
export async function dealText(round) {
  const bets = Object.keys(round.stakes).toSorted();
  const stakes = await digest(linesOf(bets.map((bet) => `${bet}=${round.stakes[bet]}`)));
  const entropy = await digest(round.player_value);
  const begins = linesOf(["sabot deal v1", `key=${round.dealer}`, `epoch=${round.epoch}`, `deal=${round.deal}`]);
  const dealt = [`commitment=${round.commitment}`, `entropy=${entropy}`, `stakes=${stakes}`, `cards=${round.cards}`];
  return begins + named(round) + linesOf([...dealt, `outcome=${round.outcome}`]);
}

/** Return the text that the dealer signs of a shoe before its first bet. */
export async function shoeText(shoe) {
  const begins = linesOf(["sabot shoe v1", `key=${shoe.dealer}`]);
  const sealed = [`commitment=${shoe.commitment}`, `entropy=${await digest(shoe.entropy)}`, `root=${shoe.root}`];
  const opened = [`burn=${shoe.burn?.card ?? ""}`, `burned=${shoe.burned}`, `cut=${shoe.cut}`];
  return begins + named(shoe) + linesOf([...sealed, ...opened]);
}

/** Return whether the owner of `key` signed a text; null if this browser cannot verify that. */
export async function isSigned(text, { key, signature }) {
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", bytesOf(key), { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    return error.name === "NotSupportedError" ? null : false;
  }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, bytesOf(signature), utf8.encode(text));
}
