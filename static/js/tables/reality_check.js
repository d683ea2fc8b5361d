/* The reality check, and the time of the session in the header of a table. */

import { formatTime } from "../common/clock.js";

let ahead = 0; // milliseconds that the server's clock is ahead of the browser's

/** Set the clock of the session from the last answer. */
export function setSessionClock() {
  const line = document.getElementById("sitting");
  if (line) ahead = Date.parse(line.dataset.now) - Date.now();
}

function tick() {
  const { began, zone } = document.getElementById("sitting").dataset;
  const now = Date.now() + ahead;
  const minutes = Math.floor((now - Date.parse(began)) / 60_000);
  const lasted = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
  document.getElementById("sitting-clock").textContent = formatTime(now, zone);
  document.getElementById("sitting-lasted").textContent = lasted;
}

/** Open a reality check. It waits for an answer: Escape does not close it. */
export function openRealityCheck(check) {
  check.close();
  check.addEventListener("cancel", (event) => event.preventDefault());
  check.showModal();
}

/** Open the reality check if the server sent one. In a frame, the outer page opens one check for
    both tables. */
export function openDueRealityCheck() {
  const check = document.getElementById("check");
  if (!check || check.matches(":modal")) return;
  if (document.dispatchEvent(new CustomEvent("live:check", { cancelable: true }))) openRealityCheck(check);
}

if (document.getElementById("sitting")) {
  setSessionClock();
  setInterval(tick, 1000);
}
