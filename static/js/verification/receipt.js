/* Receipts: signed notes (C2SP signed-note) of the dealer on what the house has taken. docs/audit.md names their lines. */

import { bytesOf, hex, sha256 } from "./shuffle.js";
import { isSigned } from "./statements.js";

const NAME = "sabot.dealer";
const BEGINS = "sabot receipt v1";
const ID = 4; // bytes of a key's hash in front of a signature
const ED25519 = 1;

const utf8 = new TextEncoder();

export const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));

/** Return the text of a note and its signatures by "name id", in hex. Throws where it is no note. */
export function splitNote(note) {
  const at = note.lastIndexOf("\n\n");
  if (at < 0) throw new TypeError("not a note");
  const signatures = new Map();
  for (const line of note.slice(at + 2).split("\n")) {
    const [dash, name, data] = line.split(" ");
    if (dash !== "—") continue;
    const bytes = hex(bytesOfBase64(data));
    signatures.set(`${name} ${bytes.slice(0, 2 * ID)}`, bytes.slice(2 * ID));
  }
  return { text: note.slice(0, at + 1), signatures };
}

/** Return the first bytes of a key's hash, in hex, which precede its signatures. `key`: in hex. */
export async function idOf(name, kind, key) {
  const parts = [...utf8.encode(`${name}\n`), kind, ...bytesOf(key)];
  return hex(await sha256(Uint8Array.from(parts))).slice(0, 2 * ID);
}

/** Return the fields of a receipt. Throws if it is not a receipt. */
export function fieldsOf(note) {
  const [first, ...lines] = splitNote(note).text.trimEnd().split("\n");
  if (first !== BEGINS) throw new TypeError("not a receipt");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** Return whether the owner of one of the keys (hex) signed a receipt; null if this browser cannot verify that. */
export async function isReceiptSigned(note, keys) {
  const { text, signatures } = splitNote(note);
  const answers = [];
  for (const key of keys) {
    const signature = signatures.get(`${NAME} ${await idOf(NAME, ED25519, key)}`);
    if (signature) answers.push(await isSigned(text, { key, signature }));
  }
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

/** Return the leaf that an entry of the public log has. */
export const leafOf = (entry) => sha256(Uint8Array.from([0, ...utf8.encode(entry)]));

/** Return the entry of the public log that a receipt of a round promises. */
export const entryOf = ({ entry }) => `{"hash":"${entry}"}`;

/** Return the leaf of the bets of a receipt among those of all players of its round. */
export const betLeafOf = ({ round, salt, currency, stakes }) =>
  leafOf(`sabot bet v1\nround=${round}\nsalt=${salt}\ncurrency=${currency}\nstakes=${stakes}\n`);

/** Return when the promise of a receipt is due, in milliseconds since 1970. */
export const dueAt = ({ closes, at, within }) => Date.parse(closes ?? at) + Number(within) * 1000;
