/* The line to a shared table. The server tells what the table shows in two parts: #live-public, which everybody sees, and
   #live-own; this script puts each in its place, and has the countdown and the clock follow the house's time.

   Whatever goes wrong, the page asks for the table as it stands (data-reload) before it listens again: what is missed
   while nobody listens is not told twice. Where no stream gets through, it goes on asking. A hidden page does neither.

   After a part has been exchanged, "live:public" or "live:own" tells live_table.js: detail.before, detail.after. */
"use strict";

{
  const FIRST_NEWS = 8_000; // milliseconds within which a stream that works has said something
  const SILENCE = 40_000; // the server says something every 15 seconds
  const POLL = 2_000;
  const STREAM_AGAIN = 30_000; // after one from which nothing was heard
  const LONGEST_PAUSE = 10_000; // between two tries to reach the house
  const ANSWER = 8_000; // how long an answer may take
  const TICK = 250;
  const SLEPT = 5_000; // a tick that comes so late means that the machine slept
  const OVERDUE = 4_000; // past a deadline without news
  const JITTER = 400; // so that not everybody comes back at the same moment

  const live = document.getElementById("live");
  const lineLost = document.getElementById("live-lost");
  const tabs = new BroadcastChannel("sabot.live");
  const part = (name) => document.getElementById(`live-${name}`);

  let stream = null;
  let hasSpoken = false; // whether this stream has told anything
  let heard = 0; // counts what streams have told
  let silentSince = -Infinity; // when a stream was given up that had told nothing
  let tries = 0; // that failed to reach the house
  let isAsking = false;
  let isOver = false; // the session
  let next = null; // timer of the next question
  let watchdog = null; // timer of the silence of the stream
  let ahead = 0; // milliseconds that the house's clock is ahead of this one
  let lastTick = Date.now();
  let askedAt = 0;
  let isPressed = false; // a finger or the mouse is down on what is the player's own
  let sending = 0; // clicks on their way
  let waiting = null; // what is to be shown of the player's own, once nothing of that is the case

  const now = () => Date.now() + ahead;

  /** Set the clock by what the house said; of what it said at different times, the latest is nearest. */
  function setClock(stamp, isFirst) {
    const sample = Number.isFinite(Number(stamp)) ? Number(stamp) : Date.parse(stamp);
    if (Number.isNaN(sample)) return;
    ahead = isFirst ? sample - Date.now() : Math.max(ahead, sample - Date.now());
  }

  // --- Showing ----------------------------------------------------------------------------------------------------------

  function parsed(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.firstElementChild;
  }

  /** Put a part in its place, unless it says what stands there already. Focus and the chosen chip stay. */
  function exchange(name, after) {
    const before = part(name);
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
    if (after?.dataset.now) setClock(after.dataset.now);
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

  /** Say that the line is lost, or no more; it is read out when it changes. */
  function sayLost(isLost) {
    const text = isLost ? lineLost.dataset.lost : "";
    if (lineLost.textContent !== text) lineLost.textContent = text;
  }

  // --- Asking -----------------------------------------------------------------------------------------------------------

  /** Ask for the table as it stands; say whether there was an answer. */
  async function load() {
    const before = heard;
    try {
      const answer = await fetch(live.dataset.reload, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(ANSWER) });
      if (answer.status >= 500) return false;
      const fresh = answer.ok ? parsed(await answer.text()) : null;
      if (fresh?.id !== "live") {
        leave();
        return true;
      }
      live.dataset.stream = fresh.dataset.stream;
      setClock(fresh.dataset.now, true);
      if (heard === before) {
        showPublic(fresh.querySelector("#live-public"));
        showOwn(fresh.querySelector("#live-own"));
      }
      return true;
    } catch {
      return false;
    }
  }

  function askIn(milliseconds) {
    clearTimeout(next);
    next = setTimeout(refresh, milliseconds);
  }

  /** Load what is true, then listen; go on asking until something is heard. */
  async function refresh() {
    clearTimeout(next);
    if (isAsking || isOver || document.hidden) return;
    isAsking = true;
    askedAt = Date.now();
    const isAnswered = await load();
    isAsking = false;
    if (isOver || document.hidden) return;
    sayLost(!isAnswered);
    if (!isAnswered) {
      hangUp();
      tries += 1;
      askIn(Math.min(1000 * 2 ** (tries - 1), LONGEST_PAUSE) + Math.random() * JITTER);
      return;
    }
    tries = 0;
    if (!stream && Date.now() - silentSince >= STREAM_AGAIN) listen();
    if (!hasSpoken) askIn(POLL);
  }

  /** The table is not this reader's to watch any more: the session is over, or something else keeps them away. */
  async function leave() {
    isOver = true;
    hangUp();
    clearTimeout(next);
    if (typeof ask === "function") await ask();
    if (!document.getElementById("session-over")?.open) location.reload();
  }

  // --- Listening --------------------------------------------------------------------------------------------------------

  function listen() {
    hangUp();
    if (!live.dataset.stream) return;
    stream = new EventSource(live.dataset.stream);
    const on = (kind, act) => stream.addEventListener(kind, (event) => { hear(); act(event.data); });
    on("public", (html) => showPublic(parsed(html)));
    on("own", (html) => showOwn(parsed(html)));
    on("over", leave);
    on("beat", () => {});
    stream.addEventListener("error", fail); // it would come back by itself with a ticket that is too old
    expect(FIRST_NEWS);
  }

  function hear() {
    heard += 1;
    hasSpoken = true;
    clearTimeout(next);
    sayLost(false);
    expect(SILENCE);
  }

  function expect(milliseconds) {
    clearTimeout(watchdog);
    watchdog = setTimeout(fail, milliseconds);
  }

  /** The stream has ended, or is silent for too long: ask what is true. */
  function fail() {
    silentSince = hasSpoken ? -Infinity : Date.now();
    hangUp();
    askIn(Math.random() * JITTER);
  }

  function hangUp() {
    clearTimeout(watchdog);
    stream?.close();
    stream = null;
    hasSpoken = false;
  }

  function begin() {
    hangUp();
    refresh();
  }

  function rest() {
    hangUp();
    clearTimeout(next);
  }

  // --- Time -------------------------------------------------------------------------------------------------------------

  const clocks = new Map();

  /** The time of day in a zone, as 21:07:05. */
  function timeIn(zone) {
    if (!clocks.has(zone)) {
      const format = { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: zone, hourCycle: "h23" };
      clocks.set(zone, new Intl.DateTimeFormat("en-GB", format));
    }
    return clocks.get(zone).format(now());
  }

  function write(element, text) {
    if (element && element.textContent !== text) element.textContent = text;
  }

  function tick() {
    const shown = part("public");
    const { deadline, length } = shown.dataset;
    if (deadline) {
      const left = Math.max(0, Math.min(Number(length), Number(deadline) - now()));
      shown.querySelector("[data-ring]")?.setAttribute("stroke-dasharray", `${((left * 100) / Number(length)).toFixed(1)} 100`);
      write(shown.querySelector("[data-seconds]"), String(Math.ceil(left / 1000)));
    }
    const clock = document.getElementById("live-clock");
    if (clock) write(clock, timeIn(clock.dataset.zone));
  }

  /** Look after what timers and lines do not tell: a machine that slept, a deadline that passed without a word. */
  function look() {
    const gap = Date.now() - lastTick;
    lastTick = Date.now();
    if (document.hidden || isOver) return;
    tick();
    const { deadline } = part("public").dataset;
    if (gap > SLEPT || gap < -SLEPT) begin();
    else if (deadline && now() - Number(deadline) > OVERDUE && Date.now() - askedAt > OVERDUE) refresh();
  }

  // --- What happens on the page and around it ---------------------------------------------------------------------------

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
  tabs.addEventListener("message", (event) => { if (event.data === live.dataset.table) refresh(); });

  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : begin()));
  addEventListener("pageshow", (event) => event.persisted && begin());
  addEventListener("pagehide", rest);
  addEventListener("online", begin);
  addEventListener("offline", () => { rest(); sayLost(true); askIn(POLL); });

  setClock(live.dataset.now, true);
  setInterval(look, TICK);
  tick();
  if (!document.hidden) {
    listen();
    askIn(FIRST_NEWS / 2);
  }
}
