/* The panels next to a table: one at a time, behind tabs. In a wide window they are a column
   next to the felt. In a narrow one a tab opens a sheet above the page, which also shows the
   state of the round.

   The tabs follow the ARIA practices with manual activation: arrows, Home and End move between
   tabs, Enter or a click opens. A panel with a URL is loaded each time it is shown.
   "sabot:panel" on the document reports the shown panel in detail.name, null for none. The last
   chosen panel is stored in this browser. */

import { setText } from "../common/dom.js";

const PANEL_KEY = "sabot.panel"; // in localStorage: the name of the last chosen panel

const SENT = 1000; // milliseconds after which a form that leaves the page has been sent
const HEAD = 250; // milliseconds between two updates of the head of an open sheet
const side = document.getElementById("live-side");
const panels = document.getElementById("side-panels");
const sheet = document.getElementById("live-sheet");
const tabs = [...side.querySelectorAll("[role=tab]")];
const wide = matchMedia("(min-width: 1100px)");

const nameOf = (tab) => tab.id.replace("tab-", "");
const tabOf = (name) => tabs.find((tab) => nameOf(tab) === name);
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

let chosen = null; // the tab whose panel is shown
let updating = null; // timer of the head of the sheet

// --- One panel at a time ------------------------------------------------------------------------

function select(tab) {
  chosen = tab;
  for (const each of tabs) {
    const isChosen = each === tab;
    each.setAttribute("aria-selected", String(isChosen));
    panelOf(each).hidden = !isChosen;
  }
  const within = tab ?? tabs.find((each) => each.tabIndex === 0) ?? tabs[0];
  for (const each of tabs) each.tabIndex = each === within ? 0 : -1;
  document.dispatchEvent(new CustomEvent("sabot:panel", { detail: { name: tab && nameOf(tab) } }));
}

/** Load a panel that is not part of the page, and the style sheets that only this panel needs. */
function loadPanel(tab) {
  for (const link of document.getElementById("panel-styles")?.content.querySelectorAll("link") ?? [])
    if (link.dataset.panels.split(",").includes(nameOf(tab))) document.head.append(link);
  const body = panelOf(tab).querySelector(":scope > [data-source]");
  if (body) htmx.ajax("GET", body.dataset.source, { target: body, swap: "innerHTML" });
}

function show(tab) {
  const isNew = tab !== chosen;
  if (isNew) {
    select(tab);
    panels.scrollTop = 0;
  }
  loadPanel(tab);
  if (!wide.matches) openSheet(tab);
}

function choose(tab) {
  localStorage.setItem(PANEL_KEY, nameOf(tab));
  show(tab);
}

// --- The sheet ----------------------------------------------------------------------------------

const textOf = (selector) => document.querySelector(selector)?.textContent.trim() ?? "";

const write = (selector, text) => setText(sheet.querySelector(selector), text);

/** Show in the head of the sheet the state of the table behind it. */
function updateHead() {
  write(".sheet__seconds", textOf("#live-public [data-seconds]"));
  write(".sheet__call", document.querySelector("#live-public .live-call__what")?.firstChild?.textContent.trim() ?? "");
  write(".sheet__balance .meter__name", textOf("#live-own .meter--balance .meter__name"));
  write(".sheet__balance .meter__sum", textOf("#live-own .meter--balance .meter__sum"));
  const isLast = document.querySelector("#live-public .countdown--last") !== null;
  sheet.querySelector(".sheet__seconds").classList.toggle("sheet__seconds--last", isLast);
}

function openSheet(tab) {
  document.getElementById("sheet-title").textContent = panelOf(tab).querySelector("h2").textContent;
  updateHead();
  if (sheet.open) return;
  sheet.showModal();
  updating = setInterval(updateHead, HEAD);
}

sheet.addEventListener("close", () => {
  clearInterval(updating);
  if (wide.matches) return;
  const tab = chosen;
  select(null);
  tab?.focus({ preventScroll: true });
});
sheet.addEventListener("click", (event) => {
  if (event.target === sheet) sheet.close();
});
document.getElementById("sheet-close").addEventListener("click", () => sheet.close());

/** Move the panels to their place for this width. */
function settle() {
  if (wide.matches) {
    if (sheet.open) sheet.close();
    side.append(panels);
    show(chosen ?? tabOf(localStorage.getItem(PANEL_KEY)) ?? tabs[0]);
  } else {
    sheet.append(panels);
    select(null);
  }
  for (const tab of tabs) {
    if (wide.matches) tab.removeAttribute("aria-haspopup");
    else tab.setAttribute("aria-haspopup", "dialog");
  }
}

// --- The reader's actions -----------------------------------------------------------------------

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

function next(tab, key) {
  if (key === "Home") return tabs[0];
  if (key === "End") return tabs.at(-1);
  return key in STEPS ? tabs.at((tabs.indexOf(tab) + STEPS[key]) % tabs.length) : null;
}

for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const other = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey ? null : next(tab, event.key);
    if (!other) return;
    event.preventDefault();
    for (const each of tabs) each.tabIndex = each === other ? 0 : -1;
    other.focus();
  });
}

// --- Changes while a panel is shown -------------------------------------------------------------

const bodyShown = (selector) => (chosen ? panelOf(chosen).querySelector(selector) : null);
const renewed = new Set(); // rounds after which the panel was loaded again

/** Reload the parts that a round has changed, once for each round. A panel that shows one part
    of it has no URL for this. */
function renew() {
  const { phase, round } = document.getElementById("live-public").dataset;
  const part = bodyShown("[data-renew]");
  if (!part || (phase !== "settled" && phase !== "void") || renewed.has(round)) return;
  renewed.add(round);
  htmx.ajax("GET", part.dataset.renew, { target: part.closest(".side__body"), swap: "innerHTML" });
}

document.addEventListener("live:public", renew);

// A player who returns from the bank sees the result of the payment. table_stream.js loads the
// table.
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && bodyShown("[data-renew-on-return]")) loadPanel(chosen);
});

// A form that leaves the page can be sent once: the panel has a new one when the player returns.
panels.addEventListener("submit", (event) => {
  if (event.target.matches("[data-leads-away]")) setTimeout(() => loadPanel(chosen), SENT);
});

// Show money that a panel has moved at the table at once, in every window.
panels.addEventListener("htmx:afterSwap", (event) => {
  if (!event.target.querySelector("[data-balance-changed]")) return;
  const line = new BroadcastChannel("sabot.live");
  line.postMessage(document.getElementById("live").dataset.table);
  line.close();
});

// The button on the rail leads to the cashier without leaving the table.
document.addEventListener("click", (event) => {
  const link = event.target.closest(".meters__deposit");
  if (link?.matches("[data-deposit]") && document.getElementById("deposit-sheet")) return; // deposit.js
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(tabOf("cashier"));
});

// --- Failed loads -------------------------------------------------------------------------------

/** Show in an empty panel that it could not be loaded, and offer to try again. */
function sayTrouble(event) {
  const body = event.detail.elt.closest?.(".side__body");
  if (body?.querySelector(".side__wait"))
    body.replaceChildren(document.getElementById("panel-trouble").content.cloneNode(true));
}

for (const kind of ["htmx:responseError", "htmx:sendError", "htmx:timeout"])
  document.addEventListener(kind, sayTrouble);
panels.addEventListener("click", (event) => {
  if (event.target.closest("[data-again]") && chosen) loadPanel(chosen);
});

wide.addEventListener("change", settle);
settle();
