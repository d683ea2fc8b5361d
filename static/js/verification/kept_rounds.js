/* What this browser keeps of solo rounds, in IndexedDB, to compare with what the server says later: the seal that
   was shown, what it binds, and the values that were sent. The last rounds only, and those whose cards did not follow
   (`proof`). Nothing names the player. */

const DATABASE = "sabot";
const STORE = "rounds";
const MOST_ROUNDS = 200;

let opening = null;

function open() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.addEventListener("upgradeneeded", () =>
      request.result.createObjectStore(STORE, { keyPath: "round" }).createIndex("at", "at"),
    );
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
  return opening;
}

/** Return what is kept of a round and what is known now as one. What was kept first stays. */
function merged(earlier, now) {
  return earlier ? { ...now, ...earlier, sent: [...new Set([...earlier.sent, ...now.sent])] } : now;
}

/** Delete the oldest rounds. */
function prune(store) {
  store.count().addEventListener("success", ({ target: { result: count } }) => {
    let surplus = count - MOST_ROUNDS;
    if (surplus <= 0) return;
    store
      .index("at")
      .openCursor()
      .addEventListener("success", ({ target: { result: cursor } }) => {
        if (!cursor || surplus <= 0) return;
        if (!cursor.value.proof) {
          cursor.delete();
          surplus -= 1;
        }
        cursor.continue();
      });
  });
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
      prune(store);
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
