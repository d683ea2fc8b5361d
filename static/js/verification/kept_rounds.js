/* Solo rounds that this browser keeps in IndexedDB, to compare with what the server says later: the seal that was
   shown, what it binds, and the values that were sent. It keeps only the last rounds, and those whose cards did not
   follow (`proof`). Nothing names the player. */

import { openDatabase, prune } from "./kept.js";

const STORE = "rounds";
const MOST = 200;

const open = openDatabase("sabot", (database) =>
  database.createObjectStore(STORE, { keyPath: "round" }).createIndex("at", "at"),
);

/** Return what is kept of a round and what is known now as one. What was kept first stays. */
function merged(earlier, now) {
  return earlier ? { ...now, ...earlier, sent: [...new Set([...earlier.sent, ...now.sent])] } : now;
}

/** Run a transaction, and return what `work` has put into its answer. Without a database, as in some private windows,
    return `otherwise`. */
async function inTransaction(mode, work, otherwise) {
  try {
    const database = await open();
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const answer = {};
      work(transaction.objectStore(STORE), answer);
      transaction.addEventListener("complete", () => resolve(answer.round));
      transaction.addEventListener("abort", () => reject(transaction.error));
    });
  } catch {
    return otherwise;
  }
}

/** Keep a round. Return it with what another window has kept of it. */
export function keepRound(round) {
  const work = (store, answer) => {
    store.get(round.round).addEventListener("success", ({ target: { result: earlier } }) => {
      answer.round = merged(earlier, round);
      store.put(answer.round);
      prune(store, MOST, (kept) => kept.proof);
    });
  };
  return inTransaction("readwrite", work, round);
}

/** Return what is kept of a round; undefined if nothing is. */
export function keptRound(id) {
  const work = (store, answer) => {
    store.get(id).addEventListener("success", ({ target: { result } }) => {
      answer.round = result;
    });
  };
  return inTransaction("readonly", work, undefined);
}
