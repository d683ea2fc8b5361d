/* The way of a card: from the shoe to its place, where it turns, and at last to the discard tray.

   Only transform, opacity and their like are animated. With reduced motion nothing moves: a card is
   shown in its place. The cards themselves come from the server, none before its time. */

import { wantsMotion } from "../common/preferences.js";

/** Milliseconds from the shoe until the card is turned. */
export const DEAL = 640;
const TURN = 420; // until a card on the table is turned
const SLIDE = 380; // until a card is on the table, face down
const LEAVE = 460; // until a card is in the discard tray
const STAGGER = 60; // between two cards that leave
const APART = 150; // between two cards that are laid face down
const MOUTH = { x: 0.16, y: 0.7 }; // of the shoe, as shares of its picture

const GLIDE = "cubic-bezier(0.22, 0.8, 0.3, 1)";

/** Return the way to a place from a point of an element, and the scale there. */
function wayFrom(box, id, point) {
  const from = document.getElementById(id)?.getBoundingClientRect();
  if (!from?.width) return { across: 0, down: -80, scale: 1 };
  return {
    across: from.left + from.width * point.x - box.left - box.width / 2,
    down: from.top + from.height * point.y - box.top - box.height / 2,
    scale: Math.min(1, (from.height * 0.75) / box.height),
  };
}

const OVER = [{ scale: "1 1" }, { scale: "0.02 1" }, { scale: "1 1" }];

/** Show the back of a card for a share of its animation. */
function showBack(card, share, duration) {
  const back = [
    { opacity: 1, offset: 0 },
    { opacity: 1, offset: share },
    { opacity: 0, offset: share },
    { opacity: 0, offset: 1 },
  ];
  card.animate(back, { duration, pseudoElement: "::before" });
}

/** Deal a card: it slides from the shoe face down, and turns in its place. Return its animation, if it is animated. */
export function dealCard(card) {
  if (!wantsMotion()) return null;
  const { across, down, scale } = wayFrom(card.getBoundingClientRect(), "shoe", MOUTH);
  showBack(card, 0.79, DEAL);
  return card.animate(
    [
      { translate: `${across}px ${down}px`, rotate: "-16deg", scale: `${scale}`, easing: GLIDE },
      { translate: "0 0", rotate: "0deg", scale: "1 1", offset: 0.58, easing: "ease-in" },
      { scale: "0.02 1", offset: 0.79, easing: "ease-out" },
      { scale: "1 1", offset: 1 },
    ],
    { duration: DEAL },
  );
}

/** Turn a card that is face down. Return its animation, if it is animated. */
export function turnCard(card) {
  if (!wantsMotion()) return null;
  showBack(card, 0.5, TURN);
  return card.animate(OVER, { duration: TURN, easing: "ease-in-out" });
}

/** Lay cards face down, one after another in this order. */
export function layFaceDown(backs) {
  if (!wantsMotion()) return;
  const ways = backs.map((back) => wayFrom(back.getBoundingClientRect(), "shoe", MOUTH)); // before any is animated
  backs.forEach((back, index) => {
    const { across, down, scale } = ways[index];
    back.animate(
      [
        { translate: `${across}px ${down}px`, rotate: "-16deg", scale: `${scale}`, opacity: 1 },
        { translate: "0 0", rotate: "0deg", scale: "1", opacity: 1 },
      ],
      { duration: SLIDE, delay: index * APART, easing: GLIDE, fill: "backwards" },
    );
  });
}

/** Return the cards below *root*, with their places and their ways to the discard tray, for `sweep` once they are gone.
    Everything is measured here: after the page has changed, that would cost a layout before the next card is shown. */
export function lookAt(root) {
  if (!wantsMotion()) return [];
  return Array.from(root.querySelectorAll(".card"), (card) => {
    const box = card.getBoundingClientRect();
    const width = getComputedStyle(card).getPropertyValue("--card-w");
    return { card, box, width, way: wayFrom(box, "discard", { x: 0.5, y: 0.45 }) };
  });
}

/** Let cards that have left the table slide into the discard tray. Nothing waits for this animation. */
export function sweep(seen) {
  const copies = seen.map(({ card, box, width }) => {
    const copy = document.createElement("div");
    copy.className = "flight";
    copy.ariaHidden = "true";
    copy.style.left = `${box.left}px`;
    copy.style.top = `${box.top}px`;
    copy.style.setProperty("--card-w", width);
    const shown = card.cloneNode(true);
    shown.removeAttribute("id");
    shown.classList.add("is-due");
    copy.append(shown);
    return copy;
  });
  document.body.append(...copies);
  for (const [index, copy] of copies.entries()) {
    const { across, down, scale } = seen[index].way;
    const flight = copy.animate(
      [
        { transform: "none", opacity: 1 },
        { transform: `translate(${across}px, ${down}px) rotate(-10deg) scale(${scale})`, opacity: 1, offset: 0.9 },
        { transform: `translate(${across}px, ${down}px) rotate(-10deg) scale(${scale})`, opacity: 0 },
      ],
      { duration: LEAVE, delay: index * STAGGER, easing: "ease-in", fill: "backwards" },
    );
    flight.onfinish = () => copy.remove();
  }
}
