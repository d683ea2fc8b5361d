/* A recall: the replay of a round one step at a time, forth and back, with buttons or the arrow keys. The whole round is on
   the page; what is not due yet is hidden by the style sheet, from screen readers too. */
"use strict";

const game = document.getElementById("game");
const steps = Array.from(document.querySelectorAll("#recall-steps li"));
const acts = document.getElementById("recall-acts");
const said = document.getElementById("recall-said");
const KEYS = { ArrowLeft: "back", ArrowRight: "next" };
let told = steps.length; // how many of the steps lie on the table

/** Show the table as it was after so many steps. */
function showSteps(count) {
  told = Math.max(0, Math.min(steps.length, count));
  const due = told ? Math.max(...steps.slice(0, told).map((step) => Number(step.dataset.step))) : 0;
  const isAll = told === steps.length;
  game.classList.toggle("game--fresh", !isAll);
  game.dataset.shown = isAll ? 9 : due;
  for (const element of game.querySelectorAll("[data-due]")) {
    element.classList.toggle("is-due", isAll || Number(element.dataset.due) <= due);
  }
  steps.forEach((step, index) => {
    step.classList.toggle("is-now", index === told - 1);
    step.classList.toggle("is-later", index >= told);
  });
  said.textContent = told ? steps[told - 1].textContent : said.dataset.nothing;
}

const moves = {
  first: () => showSteps(0),
  back: () => showSteps(told - 1),
  next: () => showSteps(told === steps.length ? 1 : told + 1),
  all: () => showSteps(steps.length),
};

if (acts) {
  acts.hidden = false;
  acts.addEventListener("click", ({ target }) => moves[target.closest("[data-to]")?.dataset.to]?.());
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea, [contenteditable]");
    if (isTyping || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !KEYS[event.key]) return;
    event.preventDefault();
    moves[KEYS[event.key]]();
  });
}

document.getElementById("print")?.addEventListener("click", () => window.print());
