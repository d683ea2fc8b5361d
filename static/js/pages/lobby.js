/* The lobby: the state of all tables on their cards, kept current by the stream (stream.js). A
   visitor's page has no stream and polls the state. Countdowns follow the server's time. */

import { serverClock as clock } from "../common/clock.js";
import { parseElement, setText } from "../common/dom.js";
import { openStream } from "../common/stream.js";

const VISITORS = 15_000; // milliseconds between two loads of a page without a stream
const PLAYERS = 4_000; // the same for a page whose stream does not get through
const BEHIND = 1_500; // milliseconds past a deadline in which the next event is expected

const lostSign = document.getElementById("lobby-lost");

/** Replace the changing part of a card, unless it is the same. */
function show(after) {
  if (after?.dataset.now) clock.set(after.dataset.now);
  const before = document.getElementById(after?.id ?? "");
  if (!before || before.dataset.key === after.dataset.key) return;
  before.replaceWith(after);
  tellGoodRoad(before, after);
  const wayIn = after.closest(".table-card").querySelector("[data-play-link]");
  if (wayIn) wayIn.hidden = after.dataset.mayEnter === undefined;
  if (after.dataset.deadline) count(after);
}

/** Say quietly that a table on the page has just got a good road. */
function tellGoodRoad(before, after) {
  const { goodRoad } = after.dataset;
  if (!goodRoad || goodRoad === before.dataset.goodRoad) return;
  const sign = document.getElementById("lobby-road");
  const table = after.closest(".table-card").querySelector("h2, h3").textContent;
  setText(sign, sign.dataset.said.replace("{table}", table).replace("{road}", goodRoad));
}

function count(card) {
  const { deadline, length } = card.dataset;
  const left = Number(deadline) - clock.now();
  const share = Math.max(0, Math.min(1, left / Number(length)));
  card.querySelector("[data-ring]").setAttribute("stroke-dasharray", `${(share * 100).toFixed(1)} 100`);
  setText(card.querySelector("[data-seconds]"), left < -BEHIND ? "…" : String(Math.max(0, Math.ceil(left / 1000))));
}

function counting() {
  return document.querySelectorAll("#tables .card-live[data-deadline]");
}

function tick() {
  for (const card of counting()) count(card);
}

if (lostSign) {
  const isVisitor = !lostSign.dataset.stream;
  for (const card of counting()) clock.set(card.dataset.now, true);
  const stream = openStream({
    stream: lostSign.dataset.stream,
    every: isVisitor ? VISITORS : PLAYERS,
    reload: () => lostSign.dataset.reload,
    take(html, isLatest) {
      const fresh = parseElement(html);
      if (fresh?.id !== "lobby-now" || (!isVisitor && !fresh.dataset.stream)) return null;
      if (fresh.dataset.now) clock.set(fresh.dataset.now, true);
      if (isLatest("lobby")) for (const card of Array.from(fresh.children)) show(card);
      return fresh.dataset.stream;
    },
    on: { lobby: (html) => show(parseElement(html)) },
    lost: (isLost) => setText(lostSign, isLost ? lostSign.dataset.lost : ""),
    tick,
    deadline: () =>
      isVisitor ? 0 : Math.min(...Array.from(counting(), (card) => Number(card.dataset.deadline)), Infinity),
    clock,
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "tables") stream.refresh(); // events before the cards existed
  });
}
