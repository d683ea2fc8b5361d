/* The line between a page and the house, whatever the page shows: live.js for a table, lobby.js for all of them,
   told.js for what everybody is told.

   Whatever goes wrong, the page asks for things as they stand before it listens again: what is missed while nobody
   listens is not told twice. Where no stream gets through, it goes on asking. A hidden page does neither.

   "live:missed" on the document says that something that is told only once may have been: what was said in the chat. */
"use strict";

/** The time of the house, in milliseconds, told by what it says. */
function houseClock() {
  let ahead = 0; // milliseconds that it is ahead of the browser's

  return {
    now: () => Date.now() + ahead,

    /** Set it by a stamp; of what the house said at different times, the latest is nearest. */
    set(stamp, isFirst) {
      const sample = Number.isFinite(Number(stamp)) ? Number(stamp) : Date.parse(stamp);
      if (Number.isNaN(sample)) return;
      ahead = isFirst ? sample - Date.now() : Math.max(ahead, sample - Date.now());
    },
  };
}

/** Open the line, and keep it. What *page* brings:
      stream       where to listen, as the page came; "" where there is nothing to listen to
      reload()     returns the address at which to ask for things as they stand
      take(html, isLatest)  puts such an answer in place, unless a stream has told something newer, and returns where to
                   listen from now on; null where it is no such answer, and the page is not this reader's any more
      on           what to do with the data of each kind of event: { kind: (data) => … }
      lost(isLost) says whether the line is lost, each time that is known
      over()       is called when the page is not this reader's any more; without it the page says that the session is over,
                   or is loaded anew
      every        milliseconds between two questions where no stream gets through; optional
      tick()       is called four times a second while the page is seen; optional
      deadline()   returns when something is to have happened, by the house's clock, or 0; optional
      clock        the house's, for that deadline
    Returns what may be done with it: refresh() asks at once. */
function openLine(page) {
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
  const MISSED = 10_000; // between two times that a page without a stream looks for what is told only once

  let address = page.stream;
  let stream = null;
  let hasSpoken = false; // whether this stream has told anything
  let heard = 0; // counts what streams have told
  let silentSince = -Infinity; // when a stream was given up that had told nothing
  let tries = 0; // that failed to reach the house
  let isAsking = false;
  let isOver = false; // the session
  let next = null; // timer of the next question
  let watchdog = null; // timer of the silence of the stream
  let lastTick = Date.now();
  let askedAt = 0;
  let isWhole = true; // the page as it came has everything that its first stream does not tell
  let missedAt = Date.now();

  // --- Asking -----------------------------------------------------------------------------------------------------------

  /** Ask for things as they stand; say whether there was an answer. */
  async function load() {
    const before = heard;
    try {
      const answer = await fetch(page.reload(), { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(ANSWER) });
      if (answer.status >= 500) return false;
      const html = answer.ok ? await answer.text() : null;
      const isLatest = heard === before;
      const found = html === null ? null : page.take(html, isLatest);
      if (html !== null && isLatest) takeBanner(html, false);
      if (found === null) leave();
      else address = found;
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
    page.lost(!isAnswered);
    if (!isAnswered) {
      hangUp();
      tries += 1;
      askIn(Math.min(1000 * 2 ** (tries - 1), LONGEST_PAUSE) + Math.random() * JITTER);
      return;
    }
    tries = 0;
    if (!stream && Date.now() - silentSince >= STREAM_AGAIN) listen();
    if (hasSpoken) return;
    if (Date.now() - missedAt >= MISSED) miss();
    askIn(page.every ?? POLL);
  }

  /** This is not the reader's to watch any more: the session is over, or something else keeps them away. */
  async function leave() {
    isOver = true;
    hangUp();
    clearTimeout(next);
    if (page.over) page.over();
    else await sayOver();
  }

  async function sayOver() {
    if (typeof ask === "function") await ask();
    if (!document.getElementById("session-over")?.open) location.reload();
  }

  function miss() {
    missedAt = Date.now();
    document.dispatchEvent(new CustomEvent("live:missed"));
  }

  // --- Listening --------------------------------------------------------------------------------------------------------

  function listen() {
    hangUp();
    if (!address) return;
    stream = new EventSource(address);
    const on = (kind, act) => stream.addEventListener(kind, (event) => { hear(); act(event.data); });
    for (const [kind, act] of Object.entries(page.on)) on(kind, act);
    on("banner", (html) => takeBanner(html, true));
    on("missed", miss);
    on("over", leave);
    on("beat", () => {});
    stream.addEventListener("error", fail); // it would come back by itself with a ticket that is too old
    expect(FIRST_NEWS);
  }

  function hear() {
    const isFirst = !hasSpoken;
    heard += 1;
    hasSpoken = true;
    clearTimeout(next);
    page.lost(false);
    expect(SILENCE);
    if (isFirst && !isWhole) miss();
    isWhole = false;
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
    isWhole = false;
    refresh();
  }

  function rest() {
    hangUp();
    clearTimeout(next);
  }

  /** Look after what timers and lines do not tell: a machine that slept, a deadline that passed without a word. */
  function look() {
    const gap = Date.now() - lastTick;
    lastTick = Date.now();
    if (document.hidden || isOver) return;
    page.tick?.();
    const deadline = page.deadline?.() ?? 0;
    if (gap > SLEPT || gap < -SLEPT) begin();
    else if (deadline && page.clock.now() - deadline > OVERDUE && Date.now() - askedAt > OVERDUE) refresh();
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : begin()));
  addEventListener("pageshow", (event) => event.persisted && begin());
  addEventListener("pagehide", rest);
  addEventListener("online", begin);
  addEventListener("offline", () => { rest(); page.lost(true); askIn(POLL); });

  setInterval(look, TICK);
  page.tick?.();
  if (!document.hidden) {
    listen();
    askIn(page.stream ? FIRST_NEWS / 2 : page.every ?? POLL);
  } else isWhole = false;

  return { refresh };
}
