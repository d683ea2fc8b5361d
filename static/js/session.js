/* The end of a session. The server decides it, and other windows may have kept the session alive: so this page asks before
   it warns, and again before it says that the session is over. Asking counts as nothing. */
"use strict";

const warning = document.getElementById("session-warning");
const over = document.getElementById("session-over");
const TIMED_OUT = "timed out"; // players.models.Ended
const ASK_AGAIN = 10_000; // ms: while the warning stands, and while the house cannot be reached
const windows = new BroadcastChannel("sabot.session");
let timer = null;
let seconds = null;

function askIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(ask, milliseconds);
}

/** Ask the house how long the session still runs, and show what that means. */
async function ask() {
  if (over.open) return;
  try {
    const answer = await fetch(warning.dataset.status, { cache: "no-store" });
    if (answer.ok) show(await answer.json());
    else askIn(ASK_AGAIN);
  } catch {
    askIn(ASK_AGAIN);
  }
}

function show({ left, why }) {
  const early = left - Number(warning.dataset.warning);
  if (left <= 0) end(why);
  else if (early > 0) {
    closeWarning();
    askIn(early * 1000);
  } else {
    warn(left);
    askIn(Math.min(left * 1000, ASK_AGAIN));
  }
}

/** Say that the session is about to end, counting down what is left. */
function warn(left) {
  const until = Date.now() + left * 1000;
  const line = document.getElementById("session-seconds");
  const count = () => {
    line.textContent = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  };
  clearInterval(seconds);
  seconds = setInterval(count, 1000);
  count();
  if (!warning.open) warning.showModal();
}

function closeWarning() {
  clearInterval(seconds);
  if (warning.open) warning.close();
}

function end(why) {
  closeWarning();
  clearTimeout(timer);
  if (why !== TIMED_OUT) {
    for (const part of over.querySelectorAll("[data-ended]")) part.textContent = part.dataset.ended;
  }
  over.showModal();
}

/** Someone is there: that counts, in all windows. */
async function stay(event) {
  event.preventDefault();
  const form = event.target.closest("dialog").querySelector("form");
  try {
    await fetch(form.action, { method: "POST", body: new FormData(form) });
  } finally {
    windows.postMessage("stay");
    ask();
  }
}

warning.addEventListener("submit", stay);
warning.addEventListener("cancel", stay);
// Nothing on this page works any more: the one way on is the lobby.
over.addEventListener("cancel", (event) => {
  event.preventDefault();
  over.querySelector("form").requestSubmit();
});
windows.addEventListener("message", ask);
addEventListener("pageshow", (event) => event.persisted && ask());
document.addEventListener("visibilitychange", () => !document.hidden && ask());
askIn((Number(warning.dataset.limit) - Number(warning.dataset.warning)) * 1000);
