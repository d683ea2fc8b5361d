/* The parts of a table with several players, kept current by the stream (stream.js): #live-public, the same for all
   readers; #live-own, the player's; #live-board, if the page has one.

   The document gets "live:public-leaves" and the like before a part is replaced, and "live:public", "live:own" or
   "live:board" after it, with detail.before and detail.after; "live:resumed" before parts of a table that was out of
   sight; "live:bettors" after #live-bettors was replaced; "live:squeeze" with the hands that players turn
   (detail.hands); "live:chat" with detail.message, an element; "live:decided" when the player's own part of the chat
   has changed. */

import { formatTime, serverClock as clock } from "../common/clock.js";
import { parseElement, parseFragment, setText } from "../common/dom.js";
import { openStream } from "../common/stream.js";
import { followAnswers, place } from "./clicks.js";

const live = document.getElementById("live");
const lostSign = document.getElementById("live-lost");
const tabs = new BroadcastChannel("sabot.live");
const balances = new BroadcastChannel("sabot.balance");
const part = (name) => document.getElementById(`live-${name}`);

let keepBack = null; // returns what may be shown of a part now; null if it has to wait
let isPressed = false; // a finger or the mouse is down on the player's own part
let sending = 0; // clicks without an answer yet
let waiting = null; // the player's own part, shown when neither holds any more

// --- Changes: a root with nothing but the parts of it that have changed ----------------------------

const received = {}; // the parts of the table as the stream has sent them last
let latestLayout = part("own").cloneNode(true); // the player's own part with the layout that the server knows

/** Return a copy of a part of the table with what has changed. */
function merge(before, change) {
  const after = before.cloneNode(true);
  for (const { name } of Array.from(after.attributes)) after.removeAttribute(name);
  for (const { name, value } of change.attributes) if (name !== "data-change") after.setAttribute(name, value);
  for (const each of Array.from(change.children)) after.querySelector(`#${each.id}`).replaceWith(each);
  for (const spot of after.querySelectorAll(".spots .spot")) {
    if ("closed" in after.dataset) spot.setAttribute("aria-disabled", "true");
    else spot.removeAttribute("aria-disabled");
  }
  return after;
}

/** Return a part of the table of which the stream has sent everything, or what has changed. */
function complete(name, html) {
  const sent = parseElement(html);
  if (sent) received[name] = "change" in sent.dataset ? merge(received[name], sent) : sent;
  return sent && received[name].cloneNode(true);
}

/** Complete the answer to a click, if it contains only what has changed. Return the player's own part. */
function completeAnswer(answer) {
  const sent = answer.getElementById("live-own");
  const own = "change" in sent.dataset ? merge(latestLayout, sent) : sent;
  sent.replaceWith(own);
  latestLayout = own.cloneNode(true);
  return own;
}

// --- Showing ------------------------------------------------------------------------------------

/** Insert a part, unless it is the same or has to wait. Focus and the chosen chip stay. */
export function showPart(name, latest) {
  const before = part(name);
  const after = latest && before && keepBack(name, latest);
  if (!after || before.dataset.key === after.dataset.key) return;
  const checked = Array.from(before.querySelectorAll("input:checked[id]"), (input) => input.id);
  const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
  document.dispatchEvent(new CustomEvent(`live:${name}-leaves`, { detail: { before, after } }));
  before.replaceWith(after);
  for (const id of checked) {
    const input = document.getElementById(id);
    if (input) input.checked = true;
  }
  htmx.process(after);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  tick();
  document.dispatchEvent(new CustomEvent(`live:${name}`, { detail: { before, after } }));
}

function showPublic(after) {
  if (after?.dataset.now) clock.set(after.dataset.now);
  showPart("public", after);
}

/** Show the player's own part, unless it is older than the last click. During a click it waits. */
export function showOwn(after) {
  if (isPressed || sending) waiting = after;
  else if (after && Number(after.dataset.version) >= Number(part("own").dataset.version)) showPart("own", after);
}

function showWaiting() {
  if (!waiting || isPressed || sending) return;
  const after = waiting;
  waiting = null;
  showOwn(after);
}

function showBettors(html) {
  part("bettors").replaceWith(parseElement(html));
  document.dispatchEvent(new CustomEvent("live:bettors"));
}

/** Only a stream says who has bet: on a page without one, nothing of an earlier round stays. */
function forgetBettors(latest) {
  if (!latest || latest.dataset.round === part("public").dataset.round) return;
  part("bettors")?.replaceChildren();
  document.dispatchEvent(new CustomEvent("live:bettors"));
}

function showMessage(message) {
  if (message) document.dispatchEvent(new CustomEvent("live:chat", { detail: { message } }));
}

/** Show the current state of the table. */
function take(html, isLatest) {
  const answer = parseFragment(html);
  const state = answer.firstElementChild;
  if (state?.id !== "live") return null;
  clock.set(state.dataset.now, true);
  if (isLatest("bettors")) forgetBettors(state.querySelector("#live-public"));
  if (isLatest("public")) showPublic(state.querySelector("#live-public"));
  const own = state.querySelector("#live-own");
  if (isLatest("own") || Number(own.dataset.version) > Number(part("own").dataset.version)) showOwn(own);
  if (isLatest("board")) showPart("board", answer.querySelector("#live-board"));
  return state.dataset.stream;
}

/** Return the URL of the current state. The scoreboard comes with it if it has changed. */
function reload() {
  const key = part("board")?.dataset.key;
  return key ? `${live.dataset.reload}?board=${encodeURIComponent(key)}` : live.dataset.reload;
}

function tick() {
  const shown = part("public");
  const { deadline, length } = shown.dataset;
  if (deadline) {
    const left = Math.max(0, Math.min(Number(length), Number(deadline) - clock.now()));
    const share = `${((left * 100) / Number(length)).toFixed(1)} 100`;
    for (const ring of shown.querySelectorAll("[data-ring]")) ring.setAttribute("stroke-dasharray", share);
    const seconds = shown.querySelector("[data-seconds]");
    if (seconds) setText(seconds, String(Math.ceil(left / 1000)));
  }
  const wall = document.getElementById("live-clock");
  if (wall) setText(wall, formatTime(clock.now(), wall.dataset.zone, true));
}

// --- Following ----------------------------------------------------------------------------------

/** Return whether an event of htmx is about a click. */
export const isClick = (event) => event.detail.target?.id === "live-own";

/** The balance on the page, and its kind of money. */
const money = () => ({
  isReal: document.querySelector(".money--real") !== null,
  balance: part("own").querySelector(".meter--balance .meter__sum").textContent,
});

const shareBalance = () => balances.postMessage(money());

function release() {
  isPressed = false;
  showWaiting();
}

/** Keep the parts current from now on. The page calls this last: its own click handlers run before these. *keep*(name,
    part) returns what may be shown of a part now, or null; *mayAnswer*(part) whether the answer to a click may be. */
export function followTable(keep, mayAnswer = () => true) {
  keepBack = keep;
  clock.set(live.dataset.now, true);

  document.addEventListener(
    "pointerdown",
    (event) => {
      isPressed = part("own").contains(event.target);
    },
    true,
  );
  // After the click that follows.
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(release), true);

  document.addEventListener("htmx:configRequest", (event) => {
    if (isClick(event)) event.detail.parameters.layout = latestLayout.dataset.layout;
  });
  followAnswers(isClick, (answer) => {
    if (!mayAnswer(completeAnswer(answer))) return;
    place([...answer.children]);
    tick();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (isClick(event)) sending += 1;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isClick(event)) return;
    sending -= 1; // the next click may have been sent already
    if (event.detail.successful) tabs.postMessage(live.dataset.table);
    showWaiting();
    if (event.detail.successful) shareBalance();
  });

  const stream = openStream({
    stream: live.dataset.stream,
    reload,
    take,
    on: {
      public: (html) => showPublic(complete("public", html)),
      own: (html) => showOwn(complete("own", html)),
      board: (html) => showPart("board", parseElement(html)),
      bettors: showBettors,
      squeeze: (json) => document.dispatchEvent(new CustomEvent("live:squeeze", { detail: JSON.parse(json) })),
      chat: (html) => showMessage(parseElement(html)),
      decided: () => document.dispatchEvent(new CustomEvent("live:decided")),
    },
    lost: (isLost) => setText(lostSign, isLost ? lostSign.dataset.lost : ""),
    resumed: () => document.dispatchEvent(new CustomEvent("live:resumed")),
    tick,
    deadline: () => Number(part("public").dataset.deadline ?? 0),
    clock,
  });

  tabs.addEventListener("message", ({ data }) => {
    if (data === live.dataset.table) stream.refresh();
  });
  // A player has one balance at all tables: a page that shows another one loads its state.
  document.addEventListener("live:own", shareBalance);
  balances.addEventListener("message", ({ data }) => {
    const { isReal, balance } = money();
    if (data.isReal === isReal && data.balance !== balance) stream.refresh();
  });
}
