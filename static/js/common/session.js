/* The end of a session. The server decides it, and other windows may keep the session alive. So
   the page asks the server before it warns, and again before it shows that the session is over.
   Asking does not count as activity. A page without a session, or in a frame, has no such
   dialogs, and this script does nothing. */

const TIMED_OUT = "timed out"; // players.models.Ended
const ASK_AGAIN = 10_000; // milliseconds: during the warning, and while the server does not answer

const warning = document.getElementById("session-warning");
const over = document.getElementById("session-over");
const windows = new BroadcastChannel("sabot.session");
let timer = null;
let countdown = null;

function askIn(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(checkSession, milliseconds);
}

/** Ask the server how long the session lasts, and show it. Return whether it is over. */
export async function checkSession() {
  if (!warning || over.open) return warning !== null;
  try {
    const answer = await fetch(warning.dataset.status, { cache: "no-store" });
    if (answer.ok) show(await answer.json());
    else askIn(ASK_AGAIN);
  } catch {
    askIn(ASK_AGAIN);
  }
  return over.open;
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

/** Warn that the session is about to end, and count down the seconds left. */
function warn(left) {
  const until = Date.now() + left * 1000;
  const line = document.getElementById("session-seconds");
  const count = () => {
    line.textContent = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  };
  clearInterval(countdown);
  countdown = setInterval(count, 1000);
  count();
  if (!warning.open) warning.showModal();
}

function closeWarning() {
  clearInterval(countdown);
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

/** The reader is still here: this counts as activity, in all windows. */
async function stay(event) {
  event.preventDefault();
  const form = event.target.closest("dialog").querySelector("form");
  try {
    await fetch(form.action, { method: "POST", body: new FormData(form) });
  } finally {
    windows.postMessage("stay");
    checkSession();
  }
}

if (warning) {
  warning.addEventListener("submit", stay);
  warning.addEventListener("cancel", stay);
  // Nothing on this page works any more: the only way on is the lobby.
  over.addEventListener("cancel", (event) => {
    event.preventDefault();
    over.querySelector("form").requestSubmit();
  });
  windows.addEventListener("message", checkSession);
  addEventListener("pageshow", (event) => event.persisted && checkSession());
  document.addEventListener("visibilitychange", () => !document.hidden && checkSession());
  askIn((Number(warning.dataset.limit) - Number(warning.dataset.warning)) * 1000);
}
