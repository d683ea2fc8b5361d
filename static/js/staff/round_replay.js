/* The replay of a round one step at a time, back and forth, with buttons or the arrow keys. The
   whole round is on the page; the style sheet hides later steps, from screen readers too. */

const game = document.getElementById("game");
const steps = Array.from(document.querySelectorAll("#deal-steps li"));
const acts = document.getElementById("step-buttons");
const said = document.getElementById("step-status");
const KEYS = { ArrowLeft: "back", ArrowRight: "next" };
let shown = steps.length; // steps

/** Show the table as it was after *count* steps. */
function showSteps(count) {
  shown = Math.max(0, Math.min(steps.length, count));
  const due = shown ? Math.max(...steps.slice(0, shown).map((step) => Number(step.dataset.step))) : 0;
  const isAll = shown === steps.length;
  game.classList.toggle("game--fresh", !isAll);
  game.dataset.shown = isAll ? 9 : due;
  for (const element of game.querySelectorAll("[data-due]")) {
    element.classList.toggle("is-due", isAll || Number(element.dataset.due) <= due);
  }
  steps.forEach((step, index) => {
    step.classList.toggle("is-now", index === shown - 1);
    step.classList.toggle("is-later", index >= shown);
  });
  said.textContent = shown ? steps[shown - 1].textContent : said.dataset.nothing;
}

const moves = {
  first: () => showSteps(0),
  back: () => showSteps(shown - 1),
  next: () => showSteps(shown === steps.length ? 1 : shown + 1),
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
