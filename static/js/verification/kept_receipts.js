/* The receipts that this browser keeps, in IndexedDB: the last ones only. Of a round what came first stays, of the bets
   on it the latest. `holder` tells the receipts of one player from those of another in the same browser, and is a hash
   of the player's number. */

import { openDatabase, prune } from "./kept.js";

const STORE = "receipts";
const MOST = 2000;

const open = openDatabase("sabot-receipts", (database) => {
  const store = database.createObjectStore(STORE, { keyPath: ["holder", "round", "of"] });
  store.createIndex("at", "at");
  store.createIndex("holder", "holder");
});

const answerTo = (request) =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });

/** Keep a receipt: `{holder, round, of, version, note, keys}`, with the keys of dealers that count. Nothing is kept
    without a database, as in some private windows. */
export async function keepReceipt(receipt) {
  try {
    const transaction = (await open()).transaction(STORE, "readwrite");
    const store = transaction.objectStore(STORE);
    const earlier = await answerTo(store.get([receipt.holder, receipt.round, receipt.of]));
    if (earlier && !(receipt.version > earlier.version)) return true;
    store.put({ ...receipt, at: Date.now() });
    prune(store, MOST);
    await new Promise((resolve, reject) => {
      transaction.addEventListener("complete", resolve);
      transaction.addEventListener("abort", () => reject(transaction.error));
    });
    return true;
  } catch {
    return false;
  }
}

/** Return whether the receipt of a finished round is kept. */
export async function isRoundKept(holder, round) {
  try {
    const store = (await open()).transaction(STORE, "readonly").objectStore(STORE);
    return Boolean(await answerTo(store.count([holder, round, "round"])));
  } catch {
    return false;
  }
}

/** Return the receipts of a holder. */
export async function keptReceipts(holder) {
  try {
    const store = (await open()).transaction(STORE, "readonly").objectStore(STORE);
    return await answerTo(store.index("holder").getAll(holder));
  } catch {
    return [];
  }
}
