/* A player's own bets beside a shared table: asked for when they come into view, and again when a round of theirs has been
   settled while they are in view; once for each round, and never while nobody looks. */
"use strict";

{
  const place = document.getElementById("own-bets");
  let isSeen = false;
  let settled = ""; // the reader's round that was settled last, and how
  let counted = null; // the same, as it was when the house was asked; null before

  function ask() {
    if (!isSeen || counted === settled) return;
    counted = settled;
    htmx.trigger(place, "statistics:due");
  }

  function note() {
    const latest = document.querySelector("#live-own [data-settled]");
    if (latest) settled = latest.dataset.settled;
    ask();
  }

  function sayTrouble() {
    const trouble = document.getElementById("panel-trouble").content.cloneNode(true);
    trouble.querySelector("[data-again]").addEventListener("click", ask);
    place.replaceChildren(trouble, place.querySelector("[name=since]"));
  }

  place.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) return;
    counted = null;
    sayTrouble();
  });
  document.addEventListener("live:own", note);
  new IntersectionObserver((entries) => {
    isSeen = entries.at(-1).isIntersecting;
    note();
  }).observe(place);
}
