/* What every page does with a script: says in a toast when a request failed, closes a menu on a click beside it, leads to
   what is wrong in a form, opens a list of contents, asks for the page that is shown without a connection. */
"use strict";

const toasts = document.getElementById("toasts");

/** Show one sentence until it is closed or 12 seconds have gone. */
function toast(text) {
  const box = document.getElementById("toast").content.firstElementChild.cloneNode(true);
  box.querySelector("p").textContent = text;
  box.querySelector("button").addEventListener("click", () => box.remove());
  toasts.replaceChildren(box);
  setTimeout(() => box.remove(), 12_000);
}

/** The sentence for an answer that is not a page: by its status. */
function sentenceFor(status) {
  if (status === 401 || status === 403) return toasts.dataset.session;
  if (status === 429) return toasts.dataset.often;
  return toasts.dataset.failed;
}

document.addEventListener("htmx:responseError", (event) => toast(sentenceFor(event.detail.xhr.status)));
document.addEventListener("htmx:sendError", () => toast(toasts.dataset.offline));
document.addEventListener("htmx:timeout", () => toast(toasts.dataset.offline));
// The browser may send the same click twice where a connection breaks, and so may whoever has had no answer: by its mark
// the house knows it. Each click has another one, but for that after a click of which nobody knows. See games/betting/idempotency.py.
let mark = null;

document.addEventListener("htmx:configRequest", ({ detail: { parameters } }) => {
  if (parameters.mark === undefined) return;
  const [high, low] = crypto.getRandomValues(new BigUint64Array(2));
  mark ??= (high << 64n | low).toString(16).padStart(32, "0");
  parameters.mark = mark;
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.parameters.mark === mark) mark = null;
});

document.addEventListener("htmx:beforeRequest", () => toasts.replaceChildren());

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// The question before a pause is a page of its own where there is no script.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-opens=pause-ask]")) return;
  event.preventDefault();
  document.getElementById("pause-ask").showModal();
});

// The language switch keeps the page: the place in it is known to the browser alone, and outlives the redirect.
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-keeps-place]")) event.target.action = event.target.action.split("#")[0] + location.hash;
});

// A list of contents is open where it stands beside the text; see help.css.
for (const list of document.querySelectorAll("[data-open-where-wide]")) list.open = matchMedia("(min-width: 1100px)").matches;

// A form that came back: the first field that is wrong has the focus where the page says so, else what names the fault.
if (!document.querySelector("[autofocus]")) document.querySelector("main [aria-invalid=true]")?.focus();

// The page shown where the house cannot be reached; see casino/offline.py. Asked for when everything else is there.
const worker = document.currentScript.dataset.worker;
addEventListener("load", () => navigator.serviceWorker?.register(worker, { updateViaCache: "all" }));
