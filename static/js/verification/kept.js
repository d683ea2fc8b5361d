/* Common parts of the verifications that keep something in this browser, in IndexedDB. */

/** Return a function that opens a database, once. `upgrade` makes its store in a new one. */
export function openDatabase(name, upgrade) {
  let opening = null;
  return () => {
    opening ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.addEventListener("upgradeneeded", () => upgrade(request.result));
      request.addEventListener("success", () => resolve(request.result));
      request.addEventListener("error", () => reject(request.error));
    });
    return opening;
  };
}

/** Delete the oldest rows of a store, by its index "at", until `most` are left. A row that must stay does not count. */
export function prune(store, most, mustStay = () => false) {
  store.count().addEventListener("success", ({ target: { result: count } }) => {
    let surplus = count - most;
    if (surplus <= 0) return;
    store
      .index("at")
      .openCursor()
      .addEventListener("success", ({ target: { result: cursor } }) => {
        if (!cursor || surplus <= 0) return;
        if (!mustStay(cursor.value)) {
          cursor.delete();
          surplus -= 1;
        }
        cursor.continue();
      });
  });
}
