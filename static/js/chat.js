/* The chat beside a live table. Messages arrive one by one ("live:chat", from live.js), the same for everybody; this
   script puts each in its place by its number, and adds what is the reader's: the time where they are, which ones are
   their own, what can be done about one. What a message says is text, and nothing here makes anything else of it.

   Who reads further up is not moved: a button leads to what is new. What comes while the chat is not seen is counted on
   its tab. Whatever may have been missed ("live:missed") is asked for as a whole. */
"use strict";

{
  const MOST = 200; // messages on the page
  const AT_END = 48; // pixels from the end that still are the end
  const ANSWER = 8_000; // milliseconds that an answer may take
  const MUTE = "sabot.chat-mute"; // in localStorage: "on" where new messages are not read out
  const OFF = "sabot.chat-off"; // in localStorage: "on" where no chat is shown

  const find = (id) => document.getElementById(id);
  const chat = () => find("chat");
  const log = () => find("chat-log");
  const lines = () => log().querySelector("ol");
  const tab = find("tab-chat");
  const dialog = find("chat-dialog");

  let unread = 0;
  let wasSeen = false;
  let isAsking = false;
  let wasMissed = false; // while the log was asked for

  const isOn = (key) => localStorage.getItem(key) === "on";
  const isSeen = () => !document.hidden && log().checkVisibility();
  const isAtEnd = () => log().scrollHeight - log().scrollTop - log().clientHeight < AT_END;

  // --- A message --------------------------------------------------------------------------------------------------------

  const times = new Map();

  /** The time of day in a zone, as 21:07. */
  function timeIn(zone, moment) {
    if (!times.has(zone)) {
      times.set(zone, new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone, hourCycle: "h23" }));
    }
    return times.get(zone).format(new Date(moment));
  }

  /** The link that leads to what can be done about a message. */
  function choicesFor(number) {
    const link = find("chat-choices").content.firstElementChild.cloneNode(true);
    link.href = link.getAttribute("href").replace("/0/", `/${number}/`);
    return link;
  }

  /** Add to a message what is its reader's. */
  function dress(message) {
    if (message.classList.contains("chat__message--removed")) {
      message.textContent = chat().dataset.removed;
      return;
    }
    const nameless = message.querySelector(".chat__nameless");
    if (nameless) nameless.textContent = chat().dataset.nameless;
    const time = message.querySelector("time");
    time.textContent = timeIn(chat().dataset.zone, time.dateTime);
    if (isOwn(message)) message.classList.add("chat__message--own");
    else if (!message.querySelector(".chat__choices")) {
      message.querySelector(".chat__head").append(" ", choicesFor(message.dataset.number));
    }
  }

  /** Names are nobody else's, so whose name stands there said it. */
  const isOwn = (message) =>
    message.classList.contains("chat__message--own") ||
    (chat().dataset.name !== "" && message.querySelector(".chat__name")?.textContent === chat().dataset.name);

  /** Put a message in its place; one that stands there is replaced. */
  function put(message) {
    const before = find(message.id);
    const isRemoved = message.classList.contains("chat__message--removed");
    const isNameless = message.querySelector(".chat__nameless") !== null;
    if (!before && isRemoved) return;
    if (!before && isNameless && Number(message.dataset.number) < Number(lines().firstElementChild?.dataset.number ?? 0)) return;
    if (before && isNameless) message.classList.toggle("chat__message--own", before.classList.contains("chat__message--own"));
    dress(message);
    if (before) {
      const isMine = message.classList.contains("chat__message--own") && !before.classList.contains("chat__message--own");
      if (isRemoved || isMine || isNameless) before.replaceWith(message); // the stream may be ahead of the answer to one's first
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

  // --- What is read -----------------------------------------------------------------------------------------------------

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

  /** The chat has come into view, or has gone from it. */
  function seen() {
    const isNew = isSeen() && !wasSeen;
    wasSeen = isSeen();
    if (isNew) {
      toEnd();
      count(0);
    }
  }

  /** Make what the reader has chosen hold. */
  function choose() {
    const isOff = isOn(OFF);
    chat().hidden = isOff;
    find("chat-switched-off").hidden = !isOff;
    log().setAttribute("aria-live", isOn(MUTE) ? "off" : "polite");
    find("chat-mute").checked = isOn(MUTE);
    find("chat-off").checked = isOff;
    count(unread);
  }

  // --- What is written --------------------------------------------------------------------------------------------------

  function tellLeft() {
    const text = find("chat-text");
    const left = find("chat-left");
    if (!text || !left) return;
    const room = text.maxLength - text.value.length;
    left.textContent = text.value ? left.dataset.text.replace("NUMBER", String(room)) : "";
    left.classList.toggle("chat__left--little", room < 20);
  }

  /** The part that writes has been exchanged: what was sent is shown at once, whatever becomes of the stream. */
  function sent() {
    const message = find("chat-sent")?.content.firstElementChild;
    if (message) {
      if (!chat().dataset.name) chat().dataset.name = message.querySelector(".chat__name").textContent;
      put(message.cloneNode(true));
      toEnd();
    }
    tellLeft();
  }

  /** What the reader can do is another thing now: staff decided something about them. What is being written stays. */
  async function askOwn() {
    const draft = find("chat-text")?.value ?? "";
    const wasWriting = document.activeElement === find("chat-text");
    await htmx.ajax("GET", chat().dataset.own, { target: "#chat-say", swap: "outerHTML settle:0ms show:none" });
    const text = find("chat-text");
    if (text && !text.value) text.value = draft;
    if (text && wasWriting) text.focus({ preventScroll: true });
    if (find("chat-name")) chat().dataset.name = "";
    tellLeft();
  }

  // --- What was missed --------------------------------------------------------------------------------------------------

  /** Ask for the whole log. What came meanwhile, and what stands there, is kept where it is later. */
  async function reload() {
    wasMissed = true;
    if (isAsking) return;
    isAsking = true;
    while (wasMissed) {
      wasMissed = false;
      try {
        const answer = await fetch(chat().dataset.log, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(ANSWER) });
        if (answer.ok) takeIn(await answer.text());
      } catch {
        break; // the line is lost, and says so; when it is back, this is asked again
      }
    }
    isAsking = false;
  }

  function takeIn(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    const fresh = box.content.getElementById("chat-log");
    if (!fresh) return;
    const messages = Array.from(fresh.querySelectorAll("li"));
    const known = new Set(messages.map((message) => message.id));
    const first = Number(messages[0]?.dataset.number ?? Infinity);
    const last = Number(messages.at(-1)?.dataset.number ?? 0);
    for (const old of Array.from(lines().children)) {
      const number = Number(old.dataset.number);
      if (!known.has(old.id) && number >= first && number <= last) old.remove(); // taken away meanwhile
    }
    for (const message of messages) put(message);
  }

  // --- What happens -----------------------------------------------------------------------------------------------------

  function openChoices(link) {
    htmx.ajax("GET", link.href, { target: "#chat-about", swap: "outerHTML" }).then(() => {
      if (find("chat-dialog-title") && !dialog.open) dialog.showModal();
    });
  }

  dialog?.addEventListener("close", () => find("chat-about").replaceChildren());

  function begin() {
    for (const message of lines().children) dress(message);
    choose();
    toEnd();
    tellLeft();
    log().addEventListener("scroll", () => { if (isAtEnd()) find("chat-new").hidden = true; }, { passive: true });
  }

  if (chat()) {
    document.addEventListener("live:chat", ({ detail: { message } }) => put(message));
    document.addEventListener("live:decided", askOwn);
    document.addEventListener("live:missed", reload);
    document.addEventListener("sabot:panel", () => requestAnimationFrame(seen)); // once its sheet is open
    document.addEventListener("visibilitychange", () => seen());
    document.addEventListener("input", (event) => { if (event.target.id === "chat-text") tellLeft(); });
    document.addEventListener("change", ({ target }) => {
      const key = { "chat-mute": MUTE, "chat-off": OFF }[target.id];
      if (!key) return;
      localStorage.setItem(key, target.checked ? "on" : "off");
      choose();
      if (key === OFF) find("chat-on").focus();
    });
    addEventListener("storage", ({ key }) => { if (key === MUTE || key === OFF) choose(); });
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
        choose();
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
    seen();
  }
}
