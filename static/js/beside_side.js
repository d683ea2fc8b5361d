/* A live table in one of two frames: what the page around it has to know is told there. See beside.js. */
"use strict";

{
  const tellAround = (kind, text = "") => parent.postMessage({ kind, text }, location.origin);

  // A reality check is asked for once, whatever table it became due at.
  document.addEventListener("live:check", (event) => {
    event.preventDefault();
    tellAround("check");
  });

  document.addEventListener("live:own", ({ detail: { after } }) => {
    if (after.dataset.net) tellAround("net", after.dataset.net);
  });

  // The session's own dialogs stand around the tables.
  addEventListener("pointerdown", () => tellAround("touched"), true);
}
