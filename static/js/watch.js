/* A demonstration: one step at a click, as slowly as its reader likes. The whole round is on the page; what is not due yet
   is hidden by the style sheet, from screen readers too. */
"use strict";

const game = document.getElementById("game");
const story = document.getElementById("story");
const steps = Array.from(story.children);
const next = document.getElementById("next");
let told = 0;

/** Tell the next step: its sentence, and everything on the felt that is due by then. */
function tell() {
  const step = steps[told];
  const due = Number(step.dataset.step);
  game.dataset.shown = due;
  for (const element of game.querySelectorAll("[data-due]")) {
    if (Number(element.dataset.due) <= due) element.classList.add("is-due");
  }
  steps[told - 1]?.classList.remove("is-now");
  step.classList.add("is-told", "is-now");
  told += 1;
  if (told === steps.length) finish();
}

function finish() {
  const hadFocus = document.getElementById("story-acts").contains(document.activeElement);
  game.classList.remove("game--fresh");
  document.getElementById("story-acts").hidden = true;
  document.getElementById("story-end").hidden = false;
  if (hadFocus) document.getElementById("to-play").focus({ preventScroll: true });
}

function tellTheRest() {
  while (told < steps.length) tell();
}

story.classList.add("story__steps--told");
document.getElementById("story-end").hidden = true;
next.addEventListener("click", tell);
document.getElementById("rest").addEventListener("click", tellTheRest);
document.getElementById("story-acts").hidden = false;
tell();
