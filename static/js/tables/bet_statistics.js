/* The statistics of a player's own bets next to a shared table. They are loaded when they come
   into view, and again when a round with the player's bets is settled while they are in view:
   once for each round, and never while hidden. */

const place = document.getElementById("own-bets");
let isSeen = false;
let settled = ""; // the player's last settled round, and its result
let counted = null; // the value of `settled` when the statistics were loaded; null before

function load() {
  if (!isSeen || counted === settled) return;
  counted = settled;
  htmx.trigger(place, "statistics:due");
}

function update() {
  const latest = document.querySelector("#live-own [data-settled]");
  if (latest) settled = latest.dataset.settled;
  load();
}

function sayTrouble() {
  const trouble = document.getElementById("panel-trouble").content.cloneNode(true);
  trouble.querySelector("[data-again]").addEventListener("click", load);
  place.replaceChildren(trouble, place.querySelector("[name=since]"));
}

place.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful) return;
  counted = null;
  sayTrouble();
});
document.addEventListener("live:own", update);
new IntersectionObserver((entries) => {
  isSeen = entries.at(-1).isIntersecting;
  update();
}).observe(place);
