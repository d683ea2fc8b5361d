/* A demonstration round for visitors: one step for each click. The whole round is on the page;
   the style sheet hides later steps, from screen readers too. */

const game = document.getElementById("game");
const story = document.getElementById("story");
const steps = Array.from(story.children);
const next = document.getElementById("next");
let shown = 0; // steps

/** Show the next step: its sentence, and everything on the felt up to it. */
function tell() {
  const step = steps[shown];
  const due = Number(step.dataset.step);
  game.dataset.shown = due;
  for (const element of game.querySelectorAll("[data-due]")) {
    if (Number(element.dataset.due) <= due) element.classList.add("is-due");
  }
  steps[shown - 1]?.classList.remove("is-now");
  step.classList.add("is-shown", "is-now");
  shown += 1;
  if (shown === steps.length) finish();
}

function finish() {
  const hadFocus = document.getElementById("story-acts").contains(document.activeElement);
  game.classList.remove("game--fresh");
  document.getElementById("story-acts").hidden = true;
  document.getElementById("story-end").hidden = false;
  if (hadFocus) document.getElementById("to-play").focus({ preventScroll: true });
}

function tellTheRest() {
  while (shown < steps.length) tell();
}

story.classList.add("story__steps--stepwise");
document.getElementById("story-end").hidden = true;
next.addEventListener("click", tell);
document.getElementById("rest").addEventListener("click", tellTheRest);
document.getElementById("story-acts").hidden = false;
tell();
