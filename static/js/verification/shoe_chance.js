/* Players' contributions to the shuffle of a shoe: see docs/randomness.md. */

/** Return the SHA-256 of a text in hex. */
export async function hexDigest(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return what goes into the shuffle in addition to the seed, from the values that were opened: "digest value", in
    order, then the line of a public beacon, whose signature this does not verify. Empty without any, or if a value is
    not the one its player was bound to. */
export async function entropyOf(lines) {
  const values = lines.at(-1)?.startsWith("beacon ") ? lines.slice(0, -1) : lines;
  const digests = await Promise.all(values.map((line) => hexDigest(line.split(" ")[1] ?? "")));
  const isBound = values.every((line, place) => line.startsWith(`${digests[place]} `));
  if (!isBound || values.join() !== values.toSorted().join()) return "";
  return lines.length ? hexDigest(["sabot cut v1", ...lines, ""].join("\n")) : "";
}
