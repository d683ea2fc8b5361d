/* Toasts: short messages at the edge of the page, also for failed htmx requests. */

const SHOWN_FOR = 12_000; // milliseconds
const toasts = document.getElementById("toasts");

/** Show a message until it is closed or its time is over. */
export function showToast(text) {
  const box = document.getElementById("toast").content.firstElementChild.cloneNode(true);
  box.querySelector("p").textContent = text;
  box.querySelector("button").addEventListener("click", () => box.remove());
  toasts.replaceChildren(box);
  setTimeout(() => box.remove(), SHOWN_FOR);
}

/** Return the message for an HTTP error status. */
function messageFor(status) {
  if (status === 401 || status === 403) return toasts.dataset.session;
  if (status === 429) return toasts.dataset.often;
  return toasts.dataset.failed;
}

document.addEventListener("htmx:responseError", (event) => showToast(messageFor(event.detail.xhr.status)));
document.addEventListener("htmx:sendError", () => showToast(toasts.dataset.offline));
document.addEventListener("htmx:timeout", () => showToast(toasts.dataset.offline));
document.addEventListener("htmx:beforeRequest", () => toasts.replaceChildren());
