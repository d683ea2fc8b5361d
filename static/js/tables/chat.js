/* The chat next to a table. Messages arrive one by one ("live:chat", from table_stream.js), the
   same for all readers. This script inserts each by its number and adds what depends on the
   reader: the local time, which messages are their own, the actions on a message. A message is
   inserted as text, never as markup.

   A reader who has scrolled up is not moved: a button leads to new messages. Messages that
   arrive out of sight are counted on the tab. After "live:missed" the whole log is loaded. */

import { formatTime } from "../common/clock.js";
import { parseFragment } from "../common/dom.js";

const MOST = 200; // messages on the page
const AT_END = 48; // pixels from the end that count as the end
const ANSWER = 8_000; // longest time of an answer, in milliseconds
const MUTE = "sabot.chat-mute"; // in localStorage: "on" if new messages are not read out
const OFF = "sabot.chat-off"; // in localStorage: "on" if no chat is shown

const find = (id) => document.getElementById(id);
const chat = () => find("chat");
const log = () => find("chat-log");
const lines = () => log().querySelector("ol");
const tab = find("tab-chat");
const dialog = find("chat-dialog");

let unread = 0;
let wasSeen = false;
let isLoading = false;
let wasMissed = false; // while the log was loaded

const isOn = (key) => localStorage.getItem(key) === "on";
const isSeen = () => !document.hidden && log().checkVisibility();
const isAtEnd = () => log().scrollHeight - log().scrollTop - log().clientHeight < AT_END;

// --- Messages -----------------------------------------------------------------------------------

/** Return the link that leads to the actions on a message. */
function choicesFor(number) {
  const link = find("chat-choices").content.firstElementChild.cloneNode(true);
  link.href = link.getAttribute("href").replace("/0/", `/${number}/`);
  return link;
}

/** Add to a message what depends on the reader. */
function complete(message) {
  if (message.classList.contains("chat__message--removed")) {
    message.textContent = chat().dataset.removed;
    return;
  }
  const nameless = message.querySelector(".chat__nameless");
  if (nameless) nameless.textContent = chat().dataset.nameless;
  const time = message.querySelector("time");
  time.textContent = formatTime(time.dateTime, chat().dataset.zone);
  if (isOwn(message)) message.classList.add("chat__message--own");
  else if (!message.querySelector(".chat__choices")) {
    message.querySelector(".chat__head").append(" ", choicesFor(message.dataset.number));
  }
}

/** Return whether the reader wrote a message. Names are unique. */
const isOwn = (message) =>
  message.classList.contains("chat__message--own") ||
  (chat().dataset.name !== "" && message.querySelector(".chat__name")?.textContent === chat().dataset.name);

/** Put a message in its place, or replace the one that is there. */
function put(message) {
  const before = find(message.id);
  const isRemoved = message.classList.contains("chat__message--removed");
  const isNameless = message.querySelector(".chat__nameless") !== null;
  if (!before && isRemoved) return;
  if (!before && isNameless && Number(message.dataset.number) < Number(lines().firstElementChild?.dataset.number ?? 0))
    return;
  if (before && isNameless)
    message.classList.toggle("chat__message--own", before.classList.contains("chat__message--own"));
  complete(message);
  if (before) {
    // The stream may bring the reader's first message before the answer with their name.
    const isMine = message.classList.contains("chat__message--own") && !before.classList.contains("chat__message--own");
    if (isRemoved || isMine || isNameless) before.replaceWith(message);
    return;
  }
  const wasAtEnd = isAtEnd();
  const number = Number(message.dataset.number);
  const later = Array.from(lines().children).find((other) => Number(other.dataset.number) > number);
  lines().insertBefore(message, later ?? null);
  while (lines().children.length > MOST) lines().firstElementChild.remove();
  if (wasAtEnd || message.classList.contains("chat__message--own")) toEnd();
  else find("chat-new").hidden = false;
  if (!isSeen() && !message.classList.contains("chat__message--own")) count(unread + 1);
}

// --- Reading ------------------------------------------------------------------------------------

function toEnd() {
  log().scrollTop = log().scrollHeight;
  find("chat-new").hidden = true;
}

function count(number) {
  unread = isOn(OFF) ? 0 : number;
  if (!tab) return;
  if (unread) tab.dataset.count = unread > 99 ? "99+" : String(unread);
  else delete tab.dataset.count;
}

/** The chat may have come into view, or left it. */
function updateSeen() {
  const isNew = isSeen() && !wasSeen;
  wasSeen = isSeen();
  if (isNew) {
    toEnd();
    count(0);
  }
}

/** Apply the settings of the chat. */
function applySettings() {
  const isOff = isOn(OFF);
  chat().hidden = isOff;
  find("chat-switched-off").hidden = !isOff;
  log().setAttribute("aria-live", isOn(MUTE) ? "off" : "polite");
  find("chat-mute").checked = isOn(MUTE);
  find("chat-off").checked = isOff;
  count(unread);
}

// --- Writing ------------------------------------------------------------------------------------

function showLeft() {
  const text = find("chat-text");
  const left = find("chat-left");
  if (!text || !left) return;
  const room = text.maxLength - text.value.length;
  left.textContent = text.value ? left.dataset.text.replace("{number}", String(room)) : "";
  left.classList.toggle("chat__left--little", room < 20);
}

/** The answer to a message has replaced the form: show the message without waiting for the
    stream. */
function sent() {
  const message = find("chat-sent")?.content.firstElementChild;
  if (message) {
    if (!chat().dataset.name) chat().dataset.name = message.querySelector(".chat__name").textContent;
    put(message.cloneNode(true));
    toEnd();
  }
  showLeft();
}

/** Load the form again after a decision of staff about the reader. The draft stays. */
async function reloadForm() {
  const draft = find("chat-text")?.value ?? "";
  const wasWriting = document.activeElement === find("chat-text");
  await htmx.ajax("GET", chat().dataset.own, { target: "#chat-say", swap: "outerHTML settle:0ms show:none" });
  const text = find("chat-text");
  if (text && !text.value) text.value = draft;
  if (text && wasWriting) text.focus({ preventScroll: true });
  if (find("chat-name")) chat().dataset.name = "";
  showLeft();
}

// --- Missed messages ----------------------------------------------------------------------------

/** Load the whole log. Later messages on the page are kept. */
async function reload() {
  wasMissed = true;
  if (isLoading) return;
  isLoading = true;
  while (wasMissed) {
    wasMissed = false;
    try {
      const answer = await fetch(chat().dataset.log, {
        cache: "no-store",
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER),
      });
      if (answer.ok) mergeLog(await answer.text());
    } catch {
      break; // the connection is lost; this is called again when it is back
    }
  }
  isLoading = false;
}

function mergeLog(html) {
  const fresh = parseFragment(html).getElementById("chat-log");
  if (!fresh) return;
  const messages = Array.from(fresh.querySelectorAll("li"));
  const known = new Set(messages.map((message) => message.id));
  const first = Number(messages[0]?.dataset.number ?? Infinity);
  const last = Number(messages.at(-1)?.dataset.number ?? 0);
  for (const old of Array.from(lines().children)) {
    const number = Number(old.dataset.number);
    if (!known.has(old.id) && number >= first && number <= last) old.remove(); // removed since
  }
  for (const message of messages) put(message);
}

// --- Events -------------------------------------------------------------------------------------

async function openChoices(link) {
  await htmx.ajax("GET", link.href, { target: "#chat-about", swap: "outerHTML" });
  if (find("chat-dialog-title") && !dialog.open) dialog.showModal();
}

dialog?.addEventListener("close", () => find("chat-about").replaceChildren());

function begin() {
  for (const message of lines().children) complete(message);
  applySettings();
  toEnd();
  showLeft();
  log().addEventListener(
    "scroll",
    () => {
      if (isAtEnd()) find("chat-new").hidden = true;
    },
    { passive: true },
  );
}

if (chat()) {
  document.addEventListener("live:chat", ({ detail: { message } }) => put(message));
  document.addEventListener("live:decided", reloadForm);
  document.addEventListener("live:missed", reload);
  document.addEventListener("sabot:panel", () => requestAnimationFrame(updateSeen)); // once its sheet is open
  document.addEventListener("visibilitychange", () => updateSeen());
  document.addEventListener("input", (event) => {
    if (event.target.id === "chat-text") showLeft();
  });
  document.addEventListener("change", ({ target }) => {
    const key = { "chat-mute": MUTE, "chat-off": OFF }[target.id];
    if (!key) return;
    localStorage.setItem(key, target.checked ? "on" : "off");
    applySettings();
    if (key === OFF) find("chat-on").focus();
  });
  addEventListener("storage", ({ key }) => {
    if (key === MUTE || key === OFF) applySettings();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".chat__choices");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      openChoices(link);
    } else if (event.target.closest("#chat-new")) {
      toEnd();
      log().focus({ preventScroll: true });
    } else if (event.target.closest("#chat-on")) {
      localStorage.setItem(OFF, "off");
      applySettings();
      toEnd();
      find("chat-text")?.focus();
    } else if (event.target.closest("[data-closes-chat]")) dialog.close();
  });
  document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
    if (target.id === "chat-say") sent();
    if (target.id === "chat") {
      if (dialog.open) dialog.close();
      begin();
    }
  });
  begin();
  updateSeen();
}
