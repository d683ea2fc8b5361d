/* A page that shows no play but its reader's own listens to what the house tells everybody (line.js), and to nothing else.
   What is on the page stays as it is, even when the session is over: the next click is told that. Only when play is
   stopped, or goes on, the table says so at once. */
"use strict";

{
  const NOW_AND_THEN = 15_000; // milliseconds between two questions where no stream gets through
  const { stream, reload } = document.currentScript.dataset;

  document.addEventListener("house:stopped", () => document.querySelector("#slip [name=action][value=keep]")?.click());

  openLine({
    stream,
    every: NOW_AND_THEN,
    reload: () => reload,
    take(html) {
      const box = document.createElement("template");
      box.innerHTML = html;
      const fresh = box.content.firstElementChild;
      return fresh?.id === "house-now" ? fresh.dataset.stream : null;
    },
    on: {},
    lost() {},
    over() {},
  });
}
