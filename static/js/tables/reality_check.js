/* The reality check, and the time of the session in the header of a table. */

import { formatTime, serverClock } from "../common/clock.js";
import { setText } from "../common/dom.js";

const line = document.getElementById("play-session");

if (line) serverClock.set(line.dataset.now);

const two = (number) => String(number % 60).padStart(2, "0");

function tick() {
  const { began, zone } = line.dataset;
  const now = serverClock.now();
  const seconds = Math.floor((now - Date.parse(began)) / 1000);
  const lasted = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60))}:${two(seconds)}`;
  setText(document.getElementById("play-session-clock"), formatTime(now, zone));
  setText(document.getElementById("play-session-duration"), lasted);
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

if (line) setInterval(tick, 1000);
