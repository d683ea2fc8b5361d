/* Animations of chips and wins: chips land on a bet or move between bets and the house; wins
   count up. */

const FLIGHT = 360; // milliseconds for chips to move between a bet and the house
const COUNT_UP = 600; // milliseconds for a win to count up
const SHORTEST = 3; // digits of the shortest amount: 0.00

/** Count an amount up to its text, in its own notation: only digits change, without leading
    zeros. */
export function countUp(element, signal) {
  const text = element.textContent;
  const digits = text.replace(/\D/g, "");
  const begin = performance.now();
  const frame = (now) => {
    const share = signal?.aborted ? 1 : Math.min(1, Math.max(0, now - begin) / COUNT_UP);
    const shown = String(Math.round(Number(digits) * share)).padStart(digits.length, "0");
    const zeros = Math.min(shown.search(/[1-9]|$/), digits.length - SHORTEST);
    let next = -1;
    element.textContent = text.replace(/\d(\D*)/g, (_, sign) => {
      next += 1;
      return next < zeros ? "" : shown[next] + sign;
    });
    if (share < 1) requestAnimationFrame(frame);
  };
  frame(begin);
}

/** Return where the house sits: above the cards; at Chemin de Fer, at the bank between the
    hands. */
function houseBox() {
  const seats = document.querySelectorAll(".stage .hand, .middle .bank");
  const [first, ...others] = Array.from(seats, (seat) => seat.getBoundingClientRect());
  const right = Math.max(first.right, ...others.map((box) => box.right));
  return { left: first.left, top: first.top, width: right - first.left };
}

/** Animate a copy of a bet's chips between the bet and the house. Nothing waits for it. */
export function fly(stack, toHouse) {
  const bet = stack.getBoundingClientRect();
  const house = houseBox();
  const across = house.left + house.width / 2 - bet.left - bet.width / 2;
  const away = { transform: `translate(${across}px, ${house.top - bet.top}px) scale(0.7)`, opacity: 0 };
  const there = { transform: "none", opacity: 1 };
  const copy = document.createElement("div");
  copy.className = "flight";
  copy.ariaHidden = "true";
  copy.style.left = `${bet.left}px`;
  copy.style.top = `${bet.top}px`;
  copy.style.setProperty("--chip-w", getComputedStyle(stack).getPropertyValue("--chip-w"));
  copy.append(stack.cloneNode(true));
  document.body.append(copy);
  const flight = copy.animate(toHouse ? [there, away] : [away, there], { duration: FLIGHT, easing: "ease-in-out" });
  flight.onfinish = () => copy.remove();
}

/** Lost chips move to the house, won chips come from it. */
export function moveChips(bets) {
  for (const stack of bets.querySelectorAll(".spot__bet--lose .stack")) fly(stack, true);
  for (const stack of bets.querySelectorAll(".spot__bet--win .stack")) fly(stack, false);
}

/** Show the chip on its bet before the server accepts it; the answer replaces the bet
    anyway. */
export function dropChip(spot) {
  if (!spot.querySelector(".spot__bet")) {
    const place = spot.querySelector(".game__part") ?? spot;
    place.insertAdjacentHTML("beforeend", '<span class="spot__bet spot__bet--open"><span class="stack"></span></span>');
  }
  const chip = document.querySelector("[name=chip]:checked + .chip");
  const stack = spot.querySelector(".spot__bet--open .stack");
  if (!chip || !stack) return;
  const copy = chip.cloneNode(true);
  copy.classList.add("chip--landing");
  stack.append(copy);
}

/** Remove chips that dropChip showed and no answer confirmed. */
export function removeLandingChips() {
  for (const chip of document.querySelectorAll(".chip--landing")) chip.remove();
}
