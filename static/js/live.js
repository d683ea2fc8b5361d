/* A shared table as the house tells it (line.js), in parts: #live-public, which everybody sees, #live-own, and #live-board,
   where the page has one. This script puts each in its place, and has the countdown and the clock follow the house's time.

   After a part has been exchanged, "live:public", "live:own" or "live:board" tells the other scripts: detail.before,
   detail.after. "live:chat" brings a message: detail.message, an element; "live:decided" says that the reader's
   own part of the chat is another one now. */
"use strict";

{
  const live = document.getElementById("live");
  const lineLost = document.getElementById("live-lost");
  const tabs = new BroadcastChannel("sabot.live");
  const clock = houseClock();
  const part = (name) => document.getElementById(`live-${name}`);

  let isPressed = false; // a finger or the mouse is down on what is the player's own
  let sending = 0; // clicks on their way
  let waiting = null; // what is to be shown of the player's own, once nothing of that is the case

  // --- Showing ----------------------------------------------------------------------------------------------------------

  function parsed(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content;
  }

  const element = (html) => parsed(html).firstElementChild;

  /** Put a part in its place, unless it says what stands there already, or the reader still turns its cards (squeeze.js).
      Focus and the chosen chip stay. */
  function exchange(name, news) {
    const before = part(name);
    const after = news && before && keepBack(name, news);
    if (!after || before.dataset.key === after.dataset.key) return;
    const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
    const checked = Array.from(before.querySelectorAll("input:checked[id]"), (input) => input.id);
    before.replaceWith(after);
    for (const id of checked) {
      const input = document.getElementById(id);
      if (input) input.checked = true;
    }
    htmx.process(after);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    tick();
    document.dispatchEvent(new CustomEvent(`live:${name}`, { detail: { before, after } }));
  }

  function showPublic(after) {
    if (after?.dataset.now) clock.set(after.dataset.now);
    exchange("public", after);
  }

  /** What was read before the latest click is not shown after it. A click in progress is waited for. */
  function showOwn(after) {
    if (isPressed || sending) waiting = after;
    else if (after && Number(after.dataset.version) >= Number(part("own").dataset.version)) exchange("own", after);
  }

  function showWaiting() {
    if (!waiting || isPressed || sending) return;
    const after = waiting;
    waiting = null;
    showOwn(after);
  }

  function showMessage(message) {
    if (message) document.dispatchEvent(new CustomEvent("live:chat", { detail: { message } }));
  }

  /** Take in the table as it stands. */
  function take(html, isLatest) {
    const answer = parsed(html);
    const fresh = answer.firstElementChild;
    if (fresh?.id !== "live") return null;
    clock.set(fresh.dataset.now, true);
    if (isLatest) {
      showPublic(fresh.querySelector("#live-public"));
      showOwn(fresh.querySelector("#live-own"));
      exchange("board", answer.querySelector("#live-board"));
    }
    return fresh.dataset.stream;
  }

  /** Where to ask for the table as it stands; the board comes along where it is another one. */
  function reload() {
    const key = part("board")?.dataset.key;
    return key ? `${live.dataset.reload}?board=${encodeURIComponent(key)}` : live.dataset.reload;
  }

  /** Say that the line is lost, or no more; it is read out when it changes. */
  function sayLost(isLost) {
    const text = isLost ? lineLost.dataset.lost : "";
    if (lineLost.textContent !== text) lineLost.textContent = text;
  }

  // --- Time -------------------------------------------------------------------------------------------------------------

  const clocks = new Map();

  /** The time of day in a zone, as 21:07:05. */
  function timeIn(zone) {
    if (!clocks.has(zone)) {
      const format = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: zone, hourCycle: "h23" };
      clocks.set(zone, new Intl.DateTimeFormat("en-GB", format));
    }
    return clocks.get(zone).format(clock.now());
  }

  function write(where, text) {
    if (where && where.textContent !== text) where.textContent = text;
  }

  function tick() {
    const shown = part("public");
    const { deadline, length } = shown.dataset;
    if (deadline) {
      const left = Math.max(0, Math.min(Number(length), Number(deadline) - clock.now()));
      const share = `${((left * 100) / Number(length)).toFixed(1)} 100`;
      for (const ring of shown.querySelectorAll("[data-ring]")) ring.setAttribute("stroke-dasharray", share);
      write(shown.querySelector("[data-seconds]"), String(Math.ceil(left / 1000)));
    }
    const wall = document.getElementById("live-clock");
    if (wall) write(wall, timeIn(wall.dataset.zone));
  }

  // --- What happens on the page -----------------------------------------------------------------------------------------

  document.addEventListener("pointerdown", (event) => { isPressed = part("own").contains(event.target); }, true);
  for (const end of ["pointerup", "pointercancel"]) {
    document.addEventListener(end, () => setTimeout(() => { isPressed = false; showWaiting(); }), true); // after the click
  }

  const isClick = (event) => event.detail.target?.id === "live-own";
  document.addEventListener("htmx:beforeRequest", (event) => { if (isClick(event)) sending += 1; });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isClick(event)) return;
    sending -= 1; // the next click may be on its way already
    if (event.detail.successful) tabs.postMessage(live.dataset.table);
    showWaiting();
  });

  clock.set(live.dataset.now, true);
  const line = openLine({
    stream: live.dataset.stream,
    reload,
    take,
    on: {
      public: (html) => showPublic(element(html)),
      own: (html) => showOwn(element(html)),
      board: (html) => exchange("board", element(html)),
      chat: (html) => showMessage(element(html)),
      decided: () => document.dispatchEvent(new CustomEvent("live:decided")),
    },
    lost: sayLost,
    tick,
    deadline: () => Number(part("public").dataset.deadline ?? 0),
    clock,
  });
  tabs.addEventListener("message", (event) => { if (event.data === live.dataset.table) line.refresh(); });

  document.addEventListener("squeeze:show", ({ detail: { name, after } }) => {
    if (name === "own") showOwn(after);
    else exchange(name, after);
  });

  // The balance is one, at however many tables it is bet: a page that shows another one asks anew.
  const purses = new BroadcastChannel("sabot.balance");
  const money = () => ({
    isReal: document.querySelector(".money--real") !== null,
    balance: part("own").querySelector(".meter--balance .meter__sum").textContent,
  });
  const tellBalance = () => purses.postMessage(money());
  document.addEventListener("live:own", tellBalance);
  document.addEventListener("htmx:afterRequest", (event) => { if (isClick(event) && event.detail.successful) tellBalance(); });
  purses.addEventListener("message", ({ data }) => {
    const { isReal, balance } = money();
    if (data.isReal === isReal && data.balance !== balance) line.refresh();
  });
}
