/* What every page needs: menus, the dialog before a pause, the language switch, lists of contents, the focus in a form
   that came back, and the service worker. The imports without names are the other subjects of every page. */

import "./banner.js";
import "./idempotency_key.js";
import "./preferences.js";
import "./session.js";
import "./toasts.js";

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

// The question before a pause is a page of its own where no script runs.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-opens=pause-ask]")) return;
  event.preventDefault();
  document.getElementById("pause-ask").showModal();
});

// The language switch leads back to the same place in the page: only the browser knows the fragment of the address.
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-keeps-place]"))
    event.target.action = event.target.action.split("#")[0] + location.hash;
});

// A list of contents is open where it is a column beside the text; see help.css.
for (const list of document.querySelectorAll("[data-open-where-wide]")) {
  list.open = matchMedia("(min-width: 1100px)").matches;
}

// A form that came back: focus the first wrong field, unless the page names another element.
if (!document.querySelector("[autofocus]")) document.querySelector("main [aria-invalid=true]")?.focus();

// The service worker keeps the page for lost connections (casino/offline.py). It is loaded after everything else.
const { worker } = document.querySelector("script[data-worker]").dataset;
addEventListener("load", () => navigator.serviceWorker?.register(worker, { updateViaCache: "all" }));
