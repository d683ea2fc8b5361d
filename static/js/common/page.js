/* Script of every page: menus, the dialog before a pause, the language switch, lists of
   contents, the focus in a form with errors, and the service worker. The imports without names
   are the other scripts of every page. */

import "./banner.js";
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

// Without scripts, the question before a pause is a separate page.
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-opens=pause-ask]")) return;
  event.preventDefault();
  document.getElementById("pause-ask").showModal();
});

// The language switch keeps the place in the page: only the browser knows the fragment of the URL.
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-keeps-scroll]"))
    event.target.action = event.target.action.split("#")[0] + location.hash;
});

// A code from an e-mail: the form is sent when it is complete. The dash does not count.
document.addEventListener("input", ({ target }) => {
  if (target.value?.replace(/\W/g, "").length === Number(target.dataset.complete)) target.form.requestSubmit();
});

// A list of contents is open if it is a column next to the text; see help.css.
for (const list of document.querySelectorAll("[data-open-where-wide]")) {
  list.open = matchMedia("(min-width: 1100px)").matches;
}

// A form with errors: focus the first wrong field, unless the page names another element.
if (!document.querySelector("[autofocus]")) document.querySelector("main [aria-invalid=true]")?.focus();

// The service worker stores the page for lost connections (casino/views.py). It is loaded last.
const { worker } = document.querySelector("script[data-worker]").dataset;
addEventListener("load", () => navigator.serviceWorker?.register(worker, { updateViaCache: "all" }));
