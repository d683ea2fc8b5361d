/* A table in one of two frames: sends messages to the page around it (multi_table.js). */

const send = (kind, text = "") => parent.postMessage({ kind, text }, location.origin);

// The outer page opens one reality check for both tables.
document.addEventListener("live:check", (event) => {
  event.preventDefault();
  send("check");
});

document.addEventListener("live:own", ({ detail: { after } }) => {
  if (after.dataset.net) send("net", after.dataset.net);
});

// A click in a frame closes open elements of the outer page.
addEventListener("pointerdown", () => send("touched"), true);
