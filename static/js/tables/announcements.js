/* Announcements for screen readers, in the live region #spoken of a table. */

const MOST_LINES = 20; // in the live region
const MOST_REMEMBERED = 200; // announcements of shared parts

const spoken = document.getElementById("spoken");

/** Announce a text. */
export function say(text) {
  const line = document.createElement("p");
  line.textContent = text;
  spoken.append(line);
  while (spoken.childElementCount > MOST_LINES) spoken.firstElementChild.remove();
}

/** Return the text to announce with an element, if any: a card is announced with its hand. */
export function textOf(element) {
  if (element.dataset.say) return element.dataset.say;
  const hand = element.matches(".card[data-due]") && element.closest(".hand")?.querySelector(".hand__name");
  return hand ? `${hand.textContent}: ${element.ariaLabel}` : "";
}

/** Return a function that announces new parts of a shared table: each text once, in document
    order. *round*() is the id of the round on the table. A silent call only remembers the
    rendered page. */
export function createAnnouncer(round) {
  const known = new Set();
  const keyOf = ({ dataset }, text) => `${dataset.of ?? round()} ${dataset.due ?? ""} ${text}`;

  return (part, isSilent) => {
    for (const element of part.querySelectorAll("[data-say], .hand .card[data-due]")) {
      const text = textOf(element);
      const key = keyOf(element, text);
      if (known.has(key)) continue;
      known.add(key);
      if (!isSilent) say(text);
    }
    for (const key of known) {
      if (known.size <= MOST_REMEMBERED) break;
      known.delete(key);
    }
  };
}
