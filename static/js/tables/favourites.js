/* Favourite bets next to a shared table, and the chips of its tray. The table's own form places
   them (shared_table.js). This script enables their buttons with the table's, and shows the
   result in the sheet, which may cover the table. */

import { say } from "./announcements.js";

const panel = () => document.getElementById("favourites");
const sheet = document.getElementById("live-sheet");
const live = document.getElementById("live");

/** Favourites can be placed while bets can. */
function follow() {
  const isClosed = document.querySelector("#live-own .spot").getAttribute("aria-disabled") === "true";
  for (const button of panel()?.querySelectorAll(".favourite__button") ?? []) {
    if (isClosed) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

/** A placed favourite: show the table. A refused one: show the reason at its button. */
function placed() {
  const refused = document.querySelector("#live-own .call__notice--error");
  const answer = document.getElementById("favourites-answer");
  answer.replaceChildren(...(refused && sheet?.open ? refused.cloneNode(true).childNodes : []));
  if (!refused) sheet?.close();
  else if (sheet?.open) answer.scrollIntoView({ block: "nearest" });
}

/** The pressed button is gone: focus the one in its place, or the next one to save. */
function focusNext() {
  const next = document.getElementById("favourite-back") ?? document.getElementById("favourite-save");
  next?.focus({ preventScroll: true });
}

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful) return;
  if (detail.target?.id === "favourites") {
    const said = panel()?.querySelector(".favourites__status--info")?.textContent.trim();
    if (said) say(said);
    if (document.activeElement === document.body) focusNext();
  } else if (detail.target?.id === "live-own" && panel()) {
    if (detail.requestConfig.parameters.action?.startsWith("favourite:")) placed();
  } else {
    // The tray of every window.
    if (detail.target?.id === "chip-set") new BroadcastChannel("sabot.live").postMessage(live.dataset.table);
    return;
  }
  follow();
});
document.addEventListener("live:own", follow);
follow();
