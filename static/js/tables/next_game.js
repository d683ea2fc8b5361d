/* The wait before the next game, where the law sets a time between two games.

   The server says how long it is. The buttons that deal count it down and become live by themselves; nothing is
   pressed for the player. A notice that says how long to wait disappears when the wait is over. The database decides:
   a game that is started too soon is refused. */

import { say } from "./announcements.js";

const TICK = 200; // milliseconds
const SECOND = 1000;

let until = 0; // of this page's clock
let timer = null;
let isSaid = false;

/** Return whether no game may start yet. */
export const isWaiting = () => performance.now() < until;

/** Announce the wait, once. */
export function sayWait(text) {
  if (!isSaid) say(text);
  isSaid = true;
}

/** Begin the wait that the page shows, if there is one. */
export function readWait() {
  for (const { dataset } of document.querySelectorAll("[data-wait]")) {
    until = Math.max(until, performance.now() + Number(dataset.wait) * SECOND);
    isSaid = false;
    delete dataset.wait;
    dataset.waits = "";
  }
  if (isWaiting()) {
    timer ??= setInterval(show, TICK);
    show();
  }
}

function show() {
  if (!isWaiting()) {
    clearInterval(timer);
    timer = null;
    for (const button of document.querySelectorAll("[data-left]")) {
      delete button.dataset.left;
      button.removeAttribute("aria-disabled");
    }
    for (const notice of document.querySelectorAll(".call__notice[data-waits]")) notice.remove();
    return;
  }
  const left = String(Math.ceil((until - performance.now()) / SECOND));
  for (const button of document.querySelectorAll("[data-deal]:not([aria-disabled]), [data-left]")) {
    button.dataset.left = left;
    button.setAttribute("aria-disabled", "true");
  }
}
