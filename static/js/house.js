/* What every page does with a script: says in a toast when a request failed, closes a menu on a click beside it, changes
   the theme. */
"use strict";

const toasts = document.getElementById("toasts");

/** Show one sentence until it is closed or 12 seconds have gone. */
function toast(text) {
  const box = document.createElement("div");
  const sentence = document.createElement("p");
  const close = document.createElement("button");
  box.className = "toast";
  sentence.textContent = text;
  close.type = "button";
  close.textContent = "×";
  close.setAttribute("aria-label", toasts.dataset.close);
  close.addEventListener("click", () => box.remove());
  box.append(sentence, close);
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

const themeSwitch = document.getElementById("theme");
if (themeSwitch) {
  const root = document.documentElement;
  const show = () => themeSwitch.setAttribute("aria-pressed", String(root.dataset.theme === "light"));
  themeSwitch.addEventListener("click", () => {
    if (root.dataset.theme === "light") delete root.dataset.theme;
    else root.dataset.theme = "light";
    localStorage.setItem("sabot.theme", root.dataset.theme ?? "dark");
    show();
  });
  show();
}
