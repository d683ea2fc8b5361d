/* The squeeze: the player with the largest stake on Player or on Banker turns the cards of that hand by hand, and
   everybody at the table sees it.

   The server turns cards up by its own clock, for everybody; a squeeze delays nothing, and what is sent are only
   steps of cards that are face up on every page. A page with a squeezed hand shows it face down until the player has
   turned its cards, and holds everything that would reveal them: the call, the totals, the winner, the reader's own
   part, the scoreboard. All of it appears with the last card, when the player does nothing for a while, or shortly
   before the next bets. A page that is loaded, or whose connection was lost, shows every card. */

import { preference, wantsMotion } from "../common/preferences.js";
import { playSound } from "./sound.js";
import { showOwn, showPart } from "./table_stream.js";

const FIRST_CARDS = 4; // a third card waits until these are turned, as at a table
const LAST_SECONDS = 3; // before the next bets, in which all cards are open
const SILENT = 5_000; // milliseconds after which a card that another player does not touch is turned
const APART = 200; // milliseconds between two steps that are sent
const STEPS = 5; // in which a key, a tap, or a reader without motion lifts a card
const ENOUGH = 0.45; // share of a card: released beyond it, the card turns over
const WHOLE = 0.8; // beyond it, the card turns over while it is held
const MOVED = 4; // pixels that make a press a drag
const CORNER = 0.28; // share of a side
const LENS = 112; // smallest width of a held card, in pixels
const TICK = 250;
const PHASES = ["closed", "dealt", "settled"];

const labels = document.getElementById("squeeze");
const lineLost = document.getElementById("live-lost");
const live = document.getElementById("live");
document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: labels.dataset.style }));

const waiting = { own: null, board: null }; // parts that wait for the last card

let truth = null; // #live-public as the server sent it
let round = null; // the squeezed round
let declined = null; // the last round whose cards are shown
// The squeezed hands of the round by side: { isMine, turned: numbers of cards in the hand, arrived: how many have
// come, at: when anything last happened }.
let hands = {};
let lifted = new Map(); // by number of the card, from 0 to 1
let hand = null; // the held card, and its grip

const shown = () => document.getElementById("live-public");
const own = () => document.getElementById("live-own");

// --- Parts that are held back -------------------------------------------------------------------

const numberOf = (card) => Number(card.dataset.due);
const cardsIn = (part) =>
  Array.from(part.querySelectorAll(".card[data-due]")).toSorted((a, b) => numberOf(a) - numberOf(b));
const sideOf = (card) => card.closest(".hand").id.replace("live-hand-", "");
const handOf = (card) => hands[sideOf(card)];
/** Return which card of its hand it is, from 1. */
const placeOf = (card) => cardsIn(card.closest(".hand")).indexOf(card) + 1;
const isDown = (card) => handOf(card) !== undefined && !handOf(card).turned.has(placeOf(card));
const isKeeping = () => round !== null && truth !== null && cardsIn(truth).some(isDown);

/** Return whether a squeeze of the shown round can still begin: the page has shown it since before its first card. */
const isEarly = () =>
  lineLost.textContent === "" && shown().dataset.phase === "closed" && cardsIn(shown()).length === 0;

function begin(id, side, isMine) {
  if (round !== id) {
    round = id;
    hands = {};
    lifted = new Map();
  }
  hands[side] = { isMine, turned: new Set(), arrived: 0, at: Date.now() };
}

/** The player's own hands of this round: say that they turn the cards. */
function takeUp() {
  const id = shown().dataset.round;
  if (preference("squeeze") !== "on" || !isEarly() || own().querySelector("[name=round_id]").value !== id) return;
  for (const side of own().dataset.squeezes?.split(" ") ?? []) {
    if (round === id && hands[side]) continue;
    begin(id, side, true);
    send(side, 0, 0);
  }
}

/** Another player has said that they turn the cards of a hand, or has lifted or turned one. */
function follow({ round: id, side, card, share, turned }) {
  if (id !== shown().dataset.round || id === declined) return;
  if (round !== id || !hands[side]) {
    if (!isEarly()) return;
    begin(id, side, false);
  }
  const theirs = hands[side];
  if (theirs.isMine) return;
  theirs.at = Date.now();
  const fresh = turned.filter((place) => !theirs.turned.has(place));
  for (const place of fresh) theirs.turned.add(place);
  if (fresh.length && truth) {
    playSound("card");
    show("public", truth);
    showHeld();
  } else {
    const down = shown().querySelectorAll(`#live-hand-${side} .card`)[card - 1];
    if (down?.matches(".card--down")) glide(down, share / 100);
  }
}

/** Move a card that another player lifts to where it is now. */
function glide(card, share) {
  const number = numberOf(card);
  const from = lifted.get(number) ?? 0;
  const begun = performance.now();
  lifted.set(number, share);
  if (!wantsMotion()) {
    lift(card, share);
    return;
  }
  const frame = (now) => {
    const done = Math.min(1, Math.max(0, now - begun) / APART);
    if (!card.isConnected || lifted.get(number) !== share) return;
    lift(card, from + (share - from) * done);
    if (done < 1) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function keepPublic(after) {
  const id = after.dataset.round;
  if (round !== null && (id !== round || !PHASES.includes(after.dataset.phase) || lineLost.textContent !== ""))
    decline();
  truth = after;
  for (const [side, each] of Object.entries(hands)) {
    const arrived = after.querySelectorAll(`#live-hand-${side} .card`).length;
    if (arrived > each.arrived) each.at = Date.now();
    each.arrived = arrived;
  }
  if (hand) return null; // the held card stays
  return round === null ? after : veiled(after);
}

/** Show the cards of this round from now on, and the parts that waited for them. */
function decline() {
  declined = round;
  round = null;
  hands = {};
  letGo();
  queueMicrotask(showHeld); // after the cards
}

function showHeld() {
  if (isKeeping()) return;
  for (const name of Object.keys(waiting)) {
    const after = waiting[name];
    waiting[name] = null;
    if (after) show(name, after);
  }
}

function show(name, after) {
  if (name === "own") showOwn(after);
  else showPart(name, after);
}

/** Show every card of the round on this page, and to the others those that are the player's to turn. */
function showAll() {
  for (const card of truth ? cardsIn(truth) : [])
    if (isDown(card) && handOf(card).isMine) send(sideOf(card), placeOf(card), 100);
  if (round !== null) decline();
  if (truth) show("public", truth);
}

/** Turn a card of the player's own hand. */
function turn(card) {
  const number = numberOf(card);
  const side = sideOf(card);
  const place = placeOf(card);
  hands[side].turned.add(place);
  letGo();
  send(side, place, 100);
  playSound("card");
  show("public", truth);
  const open = document.getElementById(`squeeze-${number}`);
  if (wantsMotion()) open?.animate([{ scale: "0.2 1" }, { scale: "none" }], { duration: 180, easing: "ease-out" });
  open?.focus({ preventScroll: true });
  showHeld();
}

// --- What the others are shown ------------------------------------------------------------------

let sentAt = 0;
let timer = null; // of the step that waits until `APART` has passed

/** Send a step. A turned card is sent at once, others at most every `APART` milliseconds, the latest for sure. */
function send(side, place, share) {
  clearTimeout(timer);
  const latest = { round_id: round, side, place, share: Math.round(share) };
  const left = sentAt + APART - Date.now();
  if (share === 100 || place === 0 || left <= 0) post(latest);
  else timer = setTimeout(() => post(latest), left);
}

function post(fields) {
  sentAt = Date.now();
  const headers = JSON.parse(live.closest("[hx-headers]").getAttribute("hx-headers"));
  // A page that misses a step is sent the next one.
  fetch(live.dataset.squeeze, { method: "POST", body: new URLSearchParams(fields), headers }).catch(() => null);
}

const report = (card, share) => send(sideOf(card), placeOf(card), Math.min(99, share * 100));

// --- The table with cards face down -------------------------------------------------------------

/** Return a copy of the public part that reveals nothing about face-down cards. */
function veiled(after) {
  const copy = after.cloneNode(true);
  const cards = cardsIn(copy);
  const down = cards.filter(isDown);
  for (const card of cards) {
    card.id = `squeeze-${numberOf(card)}`;
    card.tabIndex = -1;
  }
  if (!down.length) return copy;
  const isFirst = (card) => numberOf(card) <= FIRST_CARDS;
  const early = down.some(isFirst) ? cards.filter((card) => !isFirst(card)) : [];
  for (const card of [...down, ...early]) concealTotal(card.closest(".hand"));
  for (const each of copy.querySelectorAll(".hand")) each.classList.remove("hand--wins");
  for (const each of copy.querySelectorAll(".hand__won, [data-tells]")) each.remove();
  for (const card of down) if (!early.includes(card)) layDown(card);
  const isMine = down.some((card) => handOf(card).isMine);
  for (const card of early) card.remove();
  call(copy.querySelector(".live-call__text"), isMine);
  delete copy.dataset.won;
  copy.dataset.phase = "dealt"; // other scripts act when a round is settled: they wait too
  copy.dataset.key = `${after.dataset.key} ${down.map(numberOf)}`;
  return copy;
}

const concealTotal = (side) => side.querySelector(".hand__score")?.remove();

/** Ask the player to turn the cards, or say that another does, instead of the result. */
function call(place, isMine) {
  const what = document.createElement("p");
  what.className = "live-call__what";
  what.textContent = isMine ? labels.dataset.turn : labels.dataset.watch;
  what.dataset.say = isMine ? labels.dataset.hint : labels.dataset.watch;
  const button = isMine ? [labels.content.cloneNode(true)] : [];
  place.replaceChildren(what, ...button, ...place.querySelectorAll(".live-call__note"));
}

function layDown(card) {
  const number = numberOf(card);
  const label = labels.dataset.card.replace("{hand}", card.closest(".hand").ariaLabel).replace("{number}", number);
  const face = card.querySelector(".card__face");
  const bed = box(
    "card__bed",
    box("card__back"),
    box("card__lift", box("card__flap", ...face.cloneNode(true).childNodes)),
  );
  card.classList.add("card--down");
  card.append(bed);
  card.ariaLabel = label;
  if (handOf(card).isMine) {
    card.classList.add("card--mine");
    card.tabIndex = 0;
    card.setAttribute("role", "slider");
    card.dataset.say = label;
    card.ariaValueMin = "0";
    card.ariaValueMax = "100";
  } else {
    card.setAttribute("role", "img");
    delete card.dataset.say;
  }
  lift(card, lifted.get(number) ?? 0);
}

function box(name, ...inside) {
  const element = document.createElement("span");
  element.className = name;
  element.append(...inside);
  return element;
}

// --- The fold -----------------------------------------------------------------------------------
// Lengths are shares of the card's width; the card is 1 wide and 1.42 high, with the origin at the
// upper left. `from` is the lifted point of the edge, `to` its current position. The fold is the
// perpendicular bisector of the two.

const HIGH = 1.42;
const CARD = [
  [0, 0],
  [1, 0],
  [1, HIGH],
  [0, HIGH],
];
const percent = (share) => `${(share * 100).toFixed(2)}%`;
const polygon = (points) =>
  `polygon(${points.map(([x, y]) => `${percent(x)} ${percent(y / HIGH)}`).join(", ") || "0 0"})`;

/** Return the part of a shape on the side of a line where `beyond` is not negative. */
function cut(points, beyond) {
  const kept = [];
  points.forEach((point, index) => {
    const next = points[(index + 1) % points.length];
    const [here, there] = [beyond(point), beyond(next)];
    if (here >= 0) kept.push(point);
    if (here * there < 0) {
      const share = here / (here - there);
      kept.push([point[0] + share * (next[0] - point[0]), point[1] + share * (next[1] - point[1])]);
    }
  });
  return kept;
}

const area = (points) =>
  Math.abs(
    points.reduce((sum, [x, y], index) => {
      const [nextX, nextY] = points[(index + 1) % points.length];
      return sum + x * nextY - nextX * y;
    }, 0),
  ) / 2;

/** Fold the card, and return the lifted share. */
function fold(card, from, to) {
  const way = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(...way);
  if (length < 0.01) return flatten(card);
  const [x, y] = [way[0] / length, way[1] / length];
  const at = ((from[0] + to[0]) * x + (from[1] + to[1]) * y) / 2;
  const up = cut(CARD, (point) => at - point[0] * x - point[1] * y);
  const share = area(up) / HIGH;
  const style = card.querySelector(".card__flap").style;
  // The face is seen from behind: mirrored, and mirrored again at the fold.
  const [a, b, c, d] = [2 * x * x - 1, 2 * x * y, -2 * x * y, 1 - 2 * y * y];
  const [right, below] = [1 - 2 * x * x + 2 * at * x, -2 * x * y + 2 * at * y];
  const moved = [right, below].map((widths) => `calc(var(--card-w) * ${widths})`);
  style.setProperty("transform", `translate(${moved}) matrix(${a}, ${b}, ${c}, ${d}, 0, 0)`);
  style.setProperty("clip-path", polygon(up.map(([left, top]) => [1 - left, top])));
  shade(
    style,
    [a * x + b * y, c * x + d * y],
    [a * (at * x - right) + b * (at * y - below), c * (at * x - right) + d * (at * y - below)],
  );
  card
    .querySelector(".card__back")
    .style.setProperty("clip-path", polygon(cut(CARD, (point) => point[0] * x + point[1] * y - at)));
  card.classList.toggle("card--lifted", share > 0);
  return share;
}

/** Light the flap from the fold outwards. `towards` and `at` refer to the flap before it is
    folded. */
function shade(style, [x, y], at) {
  const length = Math.abs(x) + HIGH * Math.abs(y);
  style.setProperty("--fold-angle", `${Math.atan2(x, -y)}rad`);
  style.setProperty("--fold-at", percent(((at[0] - 0.5) * x + (at[1] - HIGH / 2) * y) / length + 0.5));
}

function flatten(card) {
  card.classList.remove("card--lifted", "card--steps");
  card.querySelector(".card__back").style.removeProperty("clip-path");
  return 0;
}

/** Lift a card by this share: bent from its lower edge, or in steps with reduced motion. */
function lift(card, share) {
  if (card.classList.contains("card--mine")) {
    card.ariaValueNow = String(Math.round(share * 100));
    card.setAttribute("aria-valuetext", `${Math.round(share * 100)} %`);
  }
  if (share === 0) flatten(card);
  else if (wantsMotion()) fold(card, [0.5, HIGH], [0.5, HIGH * (1 - 2 * share)]);
  else uncover(card, share);
}

function uncover(card, share) {
  card.classList.add("card--steps");
  card.querySelector(".card__back").style.setProperty("clip-path", `inset(0 0 ${percent(share)} 0)`);
}

/** Lift a card one step further, or lower it by one. */
function step(card, by) {
  const number = numberOf(card);
  const share = Math.max(0, Math.round((lifted.get(number) ?? 0) * STEPS + by) / STEPS);
  lifted.set(number, share);
  if (share >= 1) turn(card);
  else {
    lift(card, share);
    report(card, share);
  }
}

// --- The held card ------------------------------------------------------------------------------

/** Return the position of a point of the window on the card. A third card is turned by 90 degrees. */
function placeOn(card, event) {
  const outline = card.getBoundingClientRect();
  const [x, y] = [event.clientX - outline.left, event.clientY - outline.top];
  return card.classList.contains("card--third")
    ? [y / outline.height, (outline.width - x) / outline.height]
    : [x / outline.width, y / outline.width];
}

/** Return the point of the nearest edge, or the corner, at which a pressed card is held. */
function grip([x, y]) {
  const high = y / HIGH;
  const [left, top] = [x < 0.5 ? 0 : 1, high < 0.5 ? 0 : HIGH];
  const [aside, upright] = [Math.min(x, 1 - x), Math.min(high, 1 - high)];
  if (aside < CORNER && upright < CORNER) return [left, top];
  return aside < upright ? [left, y] : [x, top];
}

function take(card, event) {
  const place = placeOn(card, event);
  const wide = card.querySelector(".card__bed").offsetWidth;
  const lens = Math.max(1, LENS / wide);
  const outline = card.getBoundingClientRect();
  hand = {
    card,
    from: grip(place),
    start: [event.clientX, event.clientY],
    scale: 1 / (wide * lens),
    share: 0,
    isDragged: false,
  };
  card.setPointerCapture(event.pointerId);
  card.style.setProperty("--lens", lens);
  card.style.setProperty("transform-origin", `${event.clientX - outline.left}px ${event.clientY - outline.top}px`);
  card.focus({ preventScroll: true });
}

function drag(event) {
  const way = [event.clientX - hand.start[0], event.clientY - hand.start[1]];
  if (!hand.isDragged && Math.hypot(...way) < MOVED) return;
  hand.isDragged = true;
  hand.card.classList.add("card--held");
  const [x, y] = hand.card.classList.contains("card--third") ? [way[1], -way[0]] : way;
  const to = [hand.from[0] + x * hand.scale, hand.from[1] + y * hand.scale];
  hand.share = fold(hand.card, hand.from, to);
  if (!wantsMotion()) inSteps(hand);
  if (hand.share >= WHOLE) turn(hand.card);
  else report(hand.card, hand.share);
}

function inSteps({ card, share }) {
  flatten(card);
  const done = Math.floor(share * STEPS) / STEPS;
  if (done > 0) uncover(card, done);
}

/** Release the card: it turns over, or goes back to the table. */
function drop() {
  const { card, share, isDragged } = hand;
  letGo();
  if (share >= ENOUGH) turn(card);
  else {
    const resting = lifted.get(numberOf(card)) ?? 0;
    if (isDragged) {
      lift(card, resting);
      report(card, resting);
    } else step(card, 1);
    show("public", truth); // what has arrived since
  }
}

function letGo() {
  hand?.card.classList.remove("card--held");
  hand = null;
}

const cardAt = (event) => event.target.closest?.(".card--mine");

document.addEventListener("pointerdown", (event) => {
  const card = cardAt(event);
  if (card && event.button === 0 && !hand) take(card, event);
});
document.addEventListener("pointermove", (event) => {
  if (hand) drag(event);
});
for (const end of ["pointerup", "pointercancel"])
  document.addEventListener(end, () => {
    if (hand) drop();
  });

const KEYS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };

document.addEventListener("keydown", (event) => {
  const card = cardAt(event);
  if (!card || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key in KEYS) step(card, KEYS[event.key]);
  else if (["Enter", " ", "End"].includes(event.key)) turn(card);
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#squeeze-all")) showAll();
});
document.addEventListener("sabot:preferences", () => {
  if (preference("squeeze") === "on") takeUp();
  else if (Object.values(hands).some(({ isMine }) => isMine)) showAll();
});
document.addEventListener("live:own", takeUp);
document.addEventListener("live:squeeze", ({ detail }) => detail.hands.forEach(follow));

/** Show everything shortly before the next bets, and the cards that another player does not touch. */
function hasWaitedEnough() {
  const left = truth.dataset.phase === "settled" ? document.querySelector("#live-public [data-seconds]") : null;
  if (left && Number(left.textContent) <= LAST_SECONDS) return true;
  const theirs = cardsIn(truth).filter((card) => isDown(card) && !handOf(card).isMine);
  const silent = theirs.filter((card) => Date.now() - handOf(card).at > SILENT);
  for (const card of silent) handOf(card).turned.add(placeOf(card));
  if (silent.length) {
    show("public", truth);
    showHeld();
  }
  return false;
}

setInterval(() => {
  if (isKeeping() && hasWaitedEnough()) showAll();
}, TICK);

/** Return what may be shown of a part of the table now, or null if it has to wait. */
export function keepBack(name, after) {
  if (name === "public") return keepPublic(after);
  if (!(name in waiting) || !isKeeping()) return after;
  waiting[name] = after;
  return null;
}

takeUp();
