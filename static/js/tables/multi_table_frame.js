/* A table in one of several frames: sends messages to the page around it (multi_table.js). */

const send = (kind, text = "") => parent.postMessage({ kind, text }, location.origin);

// The outer page opens one reality check for all tables.
document.addEventListener("live:check", (event) => {
  event.preventDefault();
  send("check");
});

function sendMoney(own) {
  if (own.dataset.net) send("net", own.dataset.net);
  send("balance", own.querySelector(".meter--balance .meter__sum").textContent);
}

document.addEventListener("live:own", ({ detail: { after } }) => sendMoney(after));
document.addEventListener("htmx:afterRequest", ({ detail: { target } }) => {
  if (target?.id === "live-own") sendMoney(document.getElementById("live-own"));
});

document.addEventListener("live:board", () => send("board"));

// A click in a frame closes open elements of the outer page.
addEventListener("pointerdown", () => send("touched"), true);
