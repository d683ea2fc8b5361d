/* The idempotency key of a click, the parameter "idempotency_key". A browser may send a click twice when a
   connection breaks, and a reader may repeat a click without an answer. Each click has a new
   key; after a click without an answer, the next one repeats its key. See
   games/betting/idempotency.py. */

let key = null;

function createKey() {
  const [high, low] = crypto.getRandomValues(new BigUint64Array(2));
  return ((high << 64n) | low).toString(16).padStart(32, "0");
}

document.addEventListener("htmx:configRequest", ({ detail: { parameters } }) => {
  if (parameters.idempotency_key === undefined) return;
  key ??= createKey();
  parameters.idempotency_key = key;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.parameters.idempotency_key === key) key = null;
});
