/* Squeezing: in a round with bets of the player, cards arrive face down on this screen only and
   are turned by hand.

   The server turns cards up by its own clock, for all players; a squeeze sends nothing and
   delays nobody. keepBack shows unturned cards face down and holds everything that would reveal
   them: the call, the totals, the winner, the player's own part, the scoreboard. All of it
   appears with the last card, or shortly before the next bets. A page that is loaded, or whose
   connection was lost, shows every card. */

import { preference, wantsMotion } from "../common/preferences.js";
import { playSound } from "./sound.js";
import { showOwn, showPart } from "./table_stream.js";

const FIRST_CARDS = 4; // a third card waits until these are turned, as at a table
const LAST_SECONDS = 3; // before the next bets, in which all cards are open
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
const waiting = { own: null, board: null }; // parts that wait for the last card

let truth = null; // #live-public as the server sent it
let round = null; // the squeezed round
let declined = null; // the last round without a squeeze
let turned = new Set(); // numbers of the turned cards, in dealing order
let lifted = new Map(); // by number of the card, from 0 to 1
let hand = null; // the held card, and its grip

// --- Parts that are held back -------------------------------------------------------------------

const numberOf = (card) => Number(card.dataset.due);
const cardsIn = (part) =>
  Array.from(part.querySelectorAll(".card[data-due]")).toSorted((a, b) => numberOf(a) - numberOf(b));
const isDown = (card) => !turned.has(numberOf(card));
const isKeeping = () => round !== null && truth !== null && cardsIn(truth).some(isDown);

/** Return whether the player squeezes this round: the page has shown it since before its first
    card, with bets in it. */
function isSqueezed(after) {
  const before = document.getElementById("live-public");
  const own = document.getElementById("live-own");
  return (
    preference("squeeze") === "on" &&
    lineLost.textContent === "" &&
    before.dataset.round === after.dataset.round &&
    cardsIn(before).length === 0 &&
    own.querySelector("[name=round_id]").value === after.dataset.round &&
    own.querySelector(".spot__bet") !== null
  );
}

function begin(id) {
  round = id;
  turned = new Set();
  lifted = new Map();
}

function keepPublic(after) {
  const id = after.dataset.round;
  if (round !== null && (id !== round || !PHASES.includes(after.dataset.phase) || lineLost.textContent !== ""))
    decline();
  if (round === null && id !== declined && cardsIn(after).length > 0) {
    if (isSqueezed(after)) begin(id);
    else declined = id;
  }
  truth = after;
  if (hand) return null; // the held card stays
  return round === null ? after : veiled(after);
}

/** Show the cards of this round from now on, and the parts that waited for them. */
function decline() {
  declined = round;
  round = null;
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

function showAll() {
  if (round !== null) decline();
  if (truth) show("public", truth);
}

function turn(number) {
  turned.add(number);
  letGo();
  playSound("card");
  show("public", truth);
  const card = document.getElementById(`squeeze-${number}`);
  if (wantsMotion()) card?.animate([{ scale: "0.2 1" }, { scale: "none" }], { duration: 180, easing: "ease-out" });
  card?.focus({ preventScroll: true });
  showHeld();
}

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
  for (const card of down) concealTotal(card.closest(".hand"));
  for (const each of copy.querySelectorAll(".hand")) each.classList.remove("hand--wins");
  for (const each of copy.querySelectorAll(".hand__won, [data-tells]")) each.remove();
  for (const card of down) {
    if (numberOf(card) > FIRST_CARDS && card !== down[0]) card.remove();
    else layDown(card);
  }
  call(copy.querySelector(".live-call__text"));
  delete copy.dataset.won;
  copy.dataset.phase = "dealt"; // other scripts act when a round is settled: they wait too
  copy.dataset.key = `${after.dataset.key} ${down.map(numberOf)}`;
  return copy;
}

const concealTotal = (side) => side.querySelector(".hand__score")?.remove();

/** Ask the player to turn the cards, instead of the result. */
function call(place) {
  const what = document.createElement("p");
  what.className = "live-call__what";
  what.textContent = labels.dataset.turn;
  what.dataset.say = labels.dataset.hint;
  place.replaceChildren(what, labels.content.cloneNode(true), ...place.querySelectorAll(".live-call__note"));
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
  card.tabIndex = 0;
  card.setAttribute("role", "slider");
  card.ariaLabel = card.dataset.say = label;
  card.ariaValueMin = "0";
  card.ariaValueMax = "100";
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
  card.ariaValueNow = String(Math.round(share * 100));
  card.setAttribute("aria-valuetext", `${Math.round(share * 100)} %`);
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
  if (share >= 1) turn(number);
  else lift(card, share);
}

// --- The held card ------------------------------------------------------------------------------

/** Return the position of a point of the window on the card. A third card lies across. */
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
    number: numberOf(card),
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
  if (hand.share >= WHOLE) turn(hand.number);
}

function inSteps({ card, share }) {
  flatten(card);
  const done = Math.floor(share * STEPS) / STEPS;
  if (done > 0) uncover(card, done);
}

/** Release the card: it turns over, or lies down again. */
function drop() {
  const { card, number, share, isDragged } = hand;
  letGo();
  if (share >= ENOUGH) turn(number);
  else {
    if (isDragged) lift(card, lifted.get(number) ?? 0);
    else step(card, 1);
    show("public", truth); // what has arrived since
  }
}

function letGo() {
  hand?.card.classList.remove("card--held");
  hand = null;
}

const cardAt = (event) => event.target.closest?.(".card--down");

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
  else if (["Enter", " ", "End"].includes(event.key)) turn(numberOf(card));
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#squeeze-all")) showAll();
});
document.addEventListener("sabot:preferences", () => {
  if (preference("squeeze") !== "on") showAll();
});

// Show everything shortly before the next bets.
setInterval(() => {
  if (!isKeeping() || truth.dataset.phase !== "settled") return;
  const left = document.querySelector("#live-public [data-seconds]");
  if (left && Number(left.textContent) <= LAST_SECONDS) showAll();
}, TICK);

/** Return what may be shown of a part of the table now, or null if it has to wait. */
export function keepBack(name, after) {
  if (name === "public") return keepPublic(after);
  if (!(name in waiting) || !isKeeping()) return after;
  waiting[name] = after;
  return null;
}
