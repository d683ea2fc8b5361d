/* The banner for all readers: notices of maintenance, and the house stop. A new banner comes
   from the stream (stream.js), with the answer to a click (htmx), or from another window.
   Nothing on the page moves: if the banner is part of the page, its text changes in place.
   Elsewhere it opens from a sign in the header, which is lit for a while, and is read out.

   "house:stopped" on the document means that play was stopped or resumed. */

import { parseFragment } from "./dom.js";

const LIT_FOR = 12_000; // milliseconds
const announced = document.getElementById("banner-status");
const windows = new BroadcastChannel("sabot.banner");
const language = document.documentElement.lang;
let unlit = null; // timer

function announce(text) {
  clearTimeout(unlit);
  announced.textContent = text;
  const banner = document.getElementById("banner");
  banner.classList.toggle("banner--new", text !== "");
  unlit = setTimeout(() => {
    announced.textContent = "";
    banner.classList.remove("banner--new");
  }, LIT_FOR);
}

/** Show a banner in place of the one on the page, unless it is the same. */
export function showBanner(after) {
  const banner = document.getElementById("banner");
  if (!banner || banner.dataset.key === after.dataset.key) return;
  const isInPlace = banner.offsetHeight > 0;
  const isOpen = banner.querySelector(":popover-open") !== null;
  const wasStopped = banner.classList.contains("banner--stop");
  const isFocused = banner.contains(document.activeElement);
  if (isInPlace) banner.style.minHeight = `${banner.offsetHeight}px`;
  banner.className = after.className;
  banner.classList.toggle("banner--pushed", !isInPlace);
  banner.hidden = after.hidden && !isInPlace;
  banner.dataset.key = after.dataset.key;
  banner.replaceChildren(...after.childNodes);
  const text = banner.querySelector(".banner__text");
  if (text && isOpen) text.showPopover();
  if (isFocused) banner.querySelector("button")?.focus({ preventScroll: true });
  const lines = Array.from(text?.querySelectorAll("p") ?? [], (line) => line.textContent.replace(/\s+/g, " ").trim());
  announce(lines.join("\n"));
  if (after.classList.contains("banner--stop") !== wasStopped) document.dispatchEvent(new CustomEvent("house:stopped"));
}

/** Show the banner in an answer of the server, if there is one. If *isNew*, pass it to other
    windows. */
export function updateBanner(html, isNew) {
  const after = parseFragment(html).querySelector("#banner");
  if (!after) return;
  if (announced) showBanner(after);
  if (isNew) windows.postMessage({ html, language });
}

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target.id !== "banner") return;
  event.detail.shouldSwap = false;
  showBanner(event.detail.fragment.querySelector("#banner"));
});

windows.addEventListener("message", ({ data }) => {
  if (data.language === language) updateBanner(data.html, false);
});
