/* What the house shows to everybody, told anew while the page is open, by the line (line.js), with the answer to a click
   (htmx), or by another window: notices of maintenance, and that play is stopped. Nothing on the page moves for it. Where the words stand in the page, they change
   in their place, which stays when they go; elsewhere they open from a sign in the header, which is lit for a while, and
   are read out. They cover nothing unless somebody opens them.

   "house:stopped" on the document says that play was stopped, or goes on. */
"use strict";

const takeBanner = (() => {
  const LIT = 12_000; // milliseconds
  const said = document.getElementById("banner-said");
  const windows = new BroadcastChannel("sabot.banner");
  const language = document.documentElement.lang;
  let over = null; // timer

  function say(text) {
    clearTimeout(over);
    said.textContent = text;
    const banner = document.getElementById("banner");
    banner.classList.toggle("banner--news", text !== "");
    over = setTimeout(() => {
      said.textContent = "";
      banner.classList.remove("banner--news");
    }, LIT);
  }

  function put(after) {
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
    const words = banner.querySelector(".banner__words");
    if (words && isOpen) words.showPopover();
    if (isFocused) banner.querySelector("button")?.focus({ preventScroll: true });
    const lines = Array.from(words?.querySelectorAll("p") ?? [], (line) => line.textContent.replace(/\s+/g, " ").trim());
    say(lines.join("\n"));
    if (after.classList.contains("banner--stop") !== wasStopped) document.dispatchEvent(new CustomEvent("house:stopped"));
  }

  /** Take in the banner that is in an answer of the house, if there is one; *isNews*, other windows are told of it. */
  function take(html, isNews) {
    const box = document.createElement("template");
    box.innerHTML = html;
    const after = box.content.querySelector("#banner");
    if (!after) return;
    if (said) put(after);
    if (isNews) windows.postMessage({ html, language });
  }

  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target.id !== "banner") return;
    event.detail.shouldSwap = false;
    put(event.detail.fragment.querySelector("#banner"));
  });

  windows.addEventListener("message", ({ data }) => { if (data.language === language) take(data.html, false); });
  return take;
})();
