/* The Merkle tree over the salted cards of a shoe, as in RFC 6962 (2.1): with its salt, each card that was dealt leads
   to the root that was published before the first bet. docs/randomness.md has every byte. */

import { bytesOf, hex, sha256 } from "./shuffle.js";

const utf8 = new TextEncoder();

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Return the leaf of a card. `place` counts from 0 in dealing order; `salt` is in hex. */
export function leaf({ place, card, salt }) {
  const text = `sabot card v1\nplace=${place}\ncard=${card}\nsalt=${salt}\n`;
  return sha256(joined(Uint8Array.of(0), utf8.encode(text)));
}

export const node = (left, right) => sha256(joined(Uint8Array.of(1), left, right));

/** Return the largest power of two below `size`. */
export function leftOf(size) {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** Return the root over leaves. */
export async function root(leaves) {
  if (leaves.length === 1) return leaves[0];
  const left = leftOf(leaves.length);
  return node(await root(leaves.slice(0, left)), await root(leaves.slice(left)));
}

/** Return the root to which a path leads from the leaf at `place` of `size`; null if it has another length. */
export async function climb(place, size, start, path) {
  if (size === 1) return path.length === 0 ? start : null;
  if (path.length === 0) return null;
  const left = leftOf(size);
  const [other, below] = [path.at(-1), path.slice(0, -1)];
  const isLeft = place < left;
  const inner = isLeft ? await climb(place, left, start, below) : await climb(place - left, size - left, start, below);
  if (!inner) return null;
  return isLeft ? node(inner, other) : node(other, inner);
}

/** Return whether a card with its salt and path leads to the root (hex) of a shoe of `size` cards. */
export async function leadsToRoot(card, size, wanted) {
  const found = await climb(card.place, size, await leaf(card), card.path.map(bytesOf));
  return found !== null && hex(found) === wanted;
}
