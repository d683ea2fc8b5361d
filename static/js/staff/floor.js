/* The floor: the state of all tables, kept current by the stream (stream.js). An event replaces
   the part of a row without input fields. The forms of a row are loaded when it unfolds, and
   stay unchanged until it is folded.

   Rows change their order only while nobody uses them: no form is unfolded, and the focus is
   elsewhere. */

import { createServerClock } from "../common/clock.js";
import { parseElement, setText } from "../common/dom.js";
import { openStream } from "../common/stream.js";

const POLL = 4_000; // milliseconds between two loads if no stream gets through
const BEHIND = 1_500; // milliseconds past a deadline in which the next event is expected

const list = document.getElementById("floor");
const said = document.getElementById("floor-status");
const lostSign = document.getElementById("floor-lost");
const choice = document.getElementById("floor-choice");
const none = document.getElementById("floor-none");
const clock = createServerClock();
const head = () => document.getElementById("floor-head");
const rows = () => Array.from(list.children);

/** Replace an element. The element with the id of the focused one gets the focus. */
function replace(before, after) {
  const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
  before.replaceWith(after);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

// --- Rows ---------------------------------------------------------------------------------------

const alarmsOf = (row) =>
  new Map(Array.from(row.querySelectorAll("[data-alarm]"), (each) => [each.dataset.alarm, each]));

/** Announce the new alarms of a row. */
function announce(before, after) {
  const known = before ? alarmsOf(before) : new Map();
  for (const [code, alarm] of alarmsOf(after)) {
    if (!known.has(code)) setText(said, `${after.dataset.name}: ${alarm.firstChild.textContent}`);
  }
}

/** Show next to a form which round it is about, if that is no longer the round on the table. */
function warn(row) {
  for (const about of row.querySelectorAll("[data-about]")) {
    about.hidden = about.dataset.about === row.dataset.round;
  }
}

function show(after) {
  clock.set(after.dataset.now);
  const before = document.getElementById(after.id);
  if (before?.dataset.version === after.dataset.version) return;
  announce(before, after);
  if (before) {
    replace(before.querySelector(".floor-row__live"), after.querySelector(".floor-row__live"));
    before.className = after.className;
    Object.assign(before.dataset, after.dataset);
    warn(before);
  } else list.append(after);
  filter();
  if (choice.elements.order.value) arrange();
  tick();
}

function showHead(after) {
  clock.set(after.dataset.now);
  if (head().dataset.version !== after.dataset.version) replace(head(), after);
  arrange();
}

const placeOf = (name, value) =>
  Array.from(choice.elements[name].options).findIndex((option) => option.value === value);

// First sort keys of rows. Rows with equal keys are sorted by name (Choice.sorted in Python).
const RANKS = {
  name: () => 0,
  game: (row) => placeOf("game", row.dataset.game),
  state: (row) => placeOf("state", row.dataset.state),
  players: (row) => -Number(row.dataset.players),
};
const byName = new Intl.Collator(document.documentElement.lang, { numeric: true }).compare;

/** The ids of the rows in the order that the reader has chosen, else in that of the house. */
function orderOfRows() {
  const rank = RANKS[choice.elements.order.value];
  if (!rank) return head().dataset.order;
  return rows()
    .toSorted((one, other) => rank(one) - rank(other) || byName(one.dataset.name, other.dataset.name))
    .map((row) => row.id)
    .join(" ");
}

function arrange() {
  if (list.contains(document.activeElement) || list.querySelector(".floor-row__actions[open]")) return;
  const order = orderOfRows();
  if (order === Array.from(rows(), (row) => row.id).join(" ")) return;
  for (const key of order.split(" ")) {
    const row = document.getElementById(key);
    if (row) list.append(row);
  }
}

// --- The filter ---------------------------------------------------------------------------------

/** Show the rows that match the filter, and rows with an unfolded form. */
function filter() {
  const asked = new FormData(choice);
  for (const row of rows()) {
    const fits =
      [row.dataset.state, ""].includes(asked.get("state")) &&
      [row.dataset.game, ""].includes(asked.get("game")) &&
      (!asked.has("needs") || row.querySelector("[data-alarm]"));
    row.hidden = !fits && !row.querySelector(".floor-row__actions[open]");
  }
  none.hidden = rows().some((row) => !row.hidden);
}

choice.addEventListener("change", () => {
  const asked = new URLSearchParams(Array.from(new FormData(choice)).filter(([, value]) => value));
  history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
  filter();
  arrange();
});
choice.addEventListener("submit", (event) => event.preventDefault());

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href='#close-tables']");
  if (link) document.getElementById("close-tables").closest("details").open = true;
});

document.getElementById("close-game")?.addEventListener("change", ({ target }) => {
  const label = document.querySelector("[data-chosen]");
  label.dataset.unchosen ??= label.textContent;
  setText(label, target.value ? `${label.dataset.chosen}${target.selectedOptions[0].text}` : label.dataset.unchosen);
});

// A link may lead to a row that the filter hides.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".floor-head a[href^='#']");
  const row = link && document.getElementById(link.hash.slice(1));
  if (row) row.hidden = false;
});

// --- Actions ------------------------------------------------------------------------------------

const isTyped = (forms) =>
  Array.from(forms.querySelectorAll("input:not([type=hidden])")).some(
    (input) => (input.value && input.type !== "checkbox") || input.checked,
  );

async function loadForms(address, forms) {
  forms.setAttribute("aria-busy", "true"); // the page shows the error
  await htmx.ajax("GET", address, { target: forms, swap: "innerHTML" });
  forms.removeAttribute("aria-busy");
}

list.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.matches(".floor-row__actions")) return;
    const forms = target.querySelector(".floor-row__forms");
    if (target.open && !isTyped(forms)) loadForms(target.dataset.actions, forms);
    if (!target.open) filter();
  },
  true,
); // the event does not bubble

// --- Time ---------------------------------------------------------------------------------------

function tick() {
  for (const time of list.querySelectorAll("[data-deadline]")) {
    const left = Number(time.dataset.deadline) - clock.now();
    setText(time, left < -BEHIND ? "…" : `${Math.max(0, Math.ceil(left / 1000))} s`);
  }
}

for (const row of rows()) clock.set(row.dataset.now, true);
openStream({
  stream: lostSign.dataset.stream,
  every: POLL,
  reload: () => lostSign.dataset.reload,
  take(html, isLatest) {
    const fresh = parseElement(html);
    if (fresh?.id !== "floor-now") return null;
    const newHead = fresh.querySelector("#floor-head");
    clock.set(newHead.dataset.now, true);
    if (isLatest("row")) for (const row of Array.from(fresh.querySelector("ul").children)) show(row);
    if (isLatest("head")) showHead(newHead);
    return fresh.dataset.stream;
  },
  on: { row: (html) => show(parseElement(html)), head: (html) => showHead(parseElement(html)) },
  lost: (isLost) => setText(lostSign, isLost ? lostSign.dataset.lost : ""),
  tick,
  clock,
});
