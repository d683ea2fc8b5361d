/* Reads the public log as C2SP tlog-tiles, and verifies that a leaf is in the tree that its checkpoint signs. */

import { climb, leftOf, node } from "./card_tree.js";
import { bytesOfBase64, idOf, splitNote } from "./receipt.js";
import { hex } from "./shuffle.js";
import { isSigned } from "./statements.js";

const WIDTH = 256;
const HASH = 32; // bytes
const LOG = 1; // a key that signs the text of a note
const TIME = 4; // a key whose signatures begin with their time, in eight bytes

/** Parse a public key, "name+hash+base64" (C2SP signed-note). */
function keyOf(vkey) {
  const [name, , data] = [vkey.split("+")[0], 0, vkey.split("+").slice(2).join("+")];
  const bytes = bytesOfBase64(data);
  return { name, kind: bytes[0], key: hex(bytes.slice(1)) };
}

/** Return the path of a tile in the log. */
function pathOf(level, number, width) {
  const groups = [];
  for (let rest = number; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1000)) groups.unshift(rest % 1000);
  const digits = groups.map((each) => String(each).padStart(3, "0"));
  const path = digits.map((each, at) => (at < digits.length - 1 ? `x${each}` : each)).join("/");
  return `tile/${level}/${path}${width < WIDTH ? `.p/${width}` : ""}`;
}

/** Return the root over hashes, one or more. */
async function rootOver(hashes) {
  if (hashes.length === 1) return hashes[0];
  const left = leftOf(hashes.length);
  return node(await rootOver(hashes.slice(0, left)), await rootOver(hashes.slice(left)));
}

/** Return whether the owner of a key signed a checkpoint; undefined without a signature of it. */
async function isSignedBy({ name, kind, key }, { text, signatures }) {
  const found = signatures.get(`${name} ${await idOf(name, kind, key)}`);
  if (!found) return undefined;
  if (kind === LOG) return isSigned(text, { key, signature: found });
  const seconds = Number.parseInt(found.slice(0, 16), 16);
  return isSigned(`cosignature/v1\ntime ${seconds}\n${text}`, { key, signature: found.slice(16) });
}

export class PublicLog {
  /** `address`: of the log, ended by a slash. `keys`: those of the log. */
  constructor(address, keys) {
    this.address = address;
    this.keys = keys.map(keyOf).filter(({ kind }) => kind === LOG || kind === TIME);
    this.tiles = new Map();
  }

  /** Read the last checkpoint. Return whether the keys signed it; null if this browser cannot verify that. Throws if
      the log cannot be read. */
  async open() {
    this.note = await (await this.#fetched("checkpoint")).text();
    const parts = splitNote(this.note);
    const [origin, size, root] = parts.text.split("\n");
    this.origin = origin;
    this.size = Number(size);
    this.root = hex(bytesOfBase64(root));
    const mine = this.keys.filter(({ name }) => name === origin);
    const answers = await Promise.all(mine.map((key) => isSignedBy(key, parts)));
    if (answers.includes(false)) return false;
    if (answers.includes(null)) return null;
    return mine.some(({ kind }, at) => kind === LOG && answers[at] === true);
  }

  /** Return whether a leaf is at a place of the signed tree. Throws if the log cannot be read. */
  async has(leaf, place) {
    if (!(place >= 0 && place < this.size)) return false;
    const found = await climb(place, this.size, leaf, await this.path(place));
    return found !== null && hex(found) === this.root;
  }

  /** Return the hashes that lead from a place to the root, the nearest first. */
  async path(place) {
    let [begin, end] = [0, this.size];
    const path = [];
    while (end - begin > 1) {
      const middle = begin + leftOf(end - begin);
      if (place < middle) {
        path.unshift(await this.#over(middle, end));
        end = middle;
      } else {
        path.unshift(await this.#over(begin, middle));
        begin = middle;
      }
    }
    return path;
  }

  /** Return the hash over a range of leaves. */
  async #over(begin, end) {
    const hashes = [];
    for (let at = begin; at < end;) {
      const height = Math.floor(Math.log2(end - at));
      hashes.push(await this.#complete(height, at / 2 ** height));
      at += 2 ** height;
    }
    let found = hashes.pop();
    while (hashes.length) found = await node(hashes.pop(), found);
    return found;
  }

  /** Return the hash of a complete subtree of 2 ** height leaves, the `place`th of its size. */
  async #complete(height, place) {
    const [level, above] = [Math.floor(height / 8), 2 ** (height % 8)];
    const first = place * above;
    const tile = await this.#tile(level, Math.floor(first / WIDTH));
    const from = first % WIDTH;
    const hashes = Array.from({ length: above }, (_, at) => tile.slice((from + at) * HASH, (from + at + 1) * HASH));
    return rootOver(hashes);
  }

  #tile(level, number) {
    const width = Math.min(Math.floor(this.size / WIDTH ** level) - number * WIDTH, WIDTH);
    const path = pathOf(level, number, width);
    if (!this.tiles.has(path)) {
      this.tiles.set(
        path,
        this.#fetched(path).then(async (answer) => new Uint8Array(await answer.arrayBuffer())),
      );
    }
    return this.tiles.get(path);
  }

  async #fetched(path) {
    const answer = await fetch(this.address + path, { credentials: "omit" });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer;
  }
}
