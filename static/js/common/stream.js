/* The server-sent events of a page: tables, the lobby, the floor, and notices for all readers.

   After any loss the page first loads its current state and then opens a new stream, since
   missed events are not sent again. If no stream gets through, it polls the state. A hidden page
   does neither.

   docs/adr/0074-no-sse-extension.md says why this is not htmx's extension. "live:missed" on the
   document means that events that are sent only once (chat messages) may have been missed. */

import { updateBanner } from "./banner.js";
import { checkSession } from "./session.js";

// Milliseconds.
const FIRST_EVENT = 8_000; // a working stream has sent something within this time
const SILENCE = 40_000; // the server sends something every 15 seconds
const POLL = 2_000;
const STREAM_AGAIN = 30_000; // after a stream that sent nothing
const LONGEST_PAUSE = 10_000; // between two attempts to reach the server
const ANSWER = 8_000; // longest time of an answer
const TICK = 250;
const SLEPT = 5_000; // a tick this late means that the machine slept
const SET = 500; // a clock that has moved this far against the other was set, or stopped while the machine slept
const OVERDUE = 4_000; // past a deadline without an event
const JITTER = 400; // so that not all pages return at the same moment
const MISSED = 10_000; // between two "live:missed" of a page without a stream

const drift = () => Date.now() - performance.now();

/** Open the stream of a page and keep it open. *page* has:
      stream       the URL of the stream in the rendered page; "" if there is none
      reload()     returns the URL of the current state
      take(html, isLatest)  shows that state, what isLatest(kind) says is newer than any event, and returns
                   the URL of the next stream; null if the answer is something else and the page is
                   no longer this reader's
      on           handlers of the events' data by kind: { kind: (data) => … }
      lost(isLost) shows whether the connection is lost, each time that is known
      over()       is called when the page is no longer this reader's; without it the page shows
                   that the session is over, or is loaded again
      every        milliseconds between two loads if no stream gets through; optional
      resumed()    is called when the page comes back to a state that it has not seen; optional
      tick()       is called four times a second while the page is visible; optional
      deadline()   returns when the next event is due, by the server's clock, or 0; optional
      clock        the server's clock, for that deadline
    Returns { refresh }, which loads the current state at once. */
export function openStream(page) {
  let address = page.stream;
  let stream = null;
  let hasSpoken = false; // whether this stream has sent an event
  const received = {}; // how many events of each kind there were, of all streams
  let silentSince = -Infinity; // when the last stream that had sent nothing was closed
  let tries = 0; // attempts that failed to reach the server
  let isLoading = false;
  let isWanted = false; // another load, for what has changed since this one began
  let isOver = false;
  let next = null; // timer of the next load
  let watchdog = null; // timer for the silence of the stream
  let lastTick = Date.now();
  let lastDrift = drift();
  let loadedAt = 0;
  let isWhole = true; // the rendered page contains everything that its first stream does not send
  let missedAt = performance.now();

  // --- The current state ------------------------------------------------------------------------

  /** Load the current state. Return whether the server answered. */
  async function load() {
    const before = { ...received };
    const isLatest = (kind) => received[kind] === before[kind];
    const options = { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(ANSWER) };
    try {
      const answer = await fetch(page.reload(), options);
      if (answer.status >= 500) return false;
      const html = answer.ok ? await answer.text() : null;
      const found = html === null ? null : page.take(html, isLatest);
      if (html !== null && isLatest("banner")) updateBanner(html, false);
      if (found === null) leave();
      else address = found;
      return true;
    } catch {
      return false;
    }
  }

  function refreshIn(milliseconds) {
    clearTimeout(next);
    next = setTimeout(refresh, milliseconds);
  }

  /** Load the current state, then open a stream; poll until the stream sends something. */
  async function refresh() {
    clearTimeout(next);
    if (isOver || document.hidden) return;
    isWanted = isLoading;
    if (isLoading) return;
    isLoading = true;
    loadedAt = performance.now();
    const isAnswered = await load();
    isLoading = false;
    if (isOver || document.hidden) return;
    page.lost(!isAnswered);
    if (!isAnswered) {
      close();
      tries += 1;
      refreshIn(Math.min(1000 * 2 ** (tries - 1), LONGEST_PAUSE) + Math.random() * JITTER);
      return;
    }
    tries = 0;
    if (!stream && performance.now() - silentSince >= STREAM_AGAIN) open();
    if (isWanted) {
      refresh();
      return;
    }
    if (hasSpoken) return;
    if (performance.now() - missedAt >= MISSED) sayMissed();
    refreshIn(page.every ?? POLL);
  }

  /** The page is no longer this reader's: the session is over, or something else bars the
      reader. */
  async function leave() {
    isOver = true;
    pause();
    if (page.over) page.over();
    else if (!(await checkSession())) location.reload();
  }

  function sayMissed() {
    missedAt = performance.now();
    document.dispatchEvent(new CustomEvent("live:missed"));
  }

  // --- The stream -------------------------------------------------------------------------------

  function open() {
    close();
    if (!address) return;
    stream = new EventSource(address);
    const handlers = {
      ...page.on,
      banner: (html) => updateBanner(html, true),
      missed: sayMissed,
      over: leave,
      beat() {},
    };
    for (const [kind, handle] of Object.entries(handlers)) {
      stream.addEventListener(kind, ({ data }) => {
        receive(kind);
        handle(data);
      });
    }
    stream.addEventListener("error", fail); // the browser would reconnect with an expired ticket
    expectWithin(FIRST_EVENT);
  }

  function receive(kind) {
    const isFirst = !hasSpoken;
    received[kind] = (received[kind] ?? 0) + 1;
    hasSpoken = true;
    clearTimeout(next);
    page.lost(false);
    expectWithin(SILENCE);
    if (isFirst && !isWhole) sayMissed();
    isWhole = false;
  }

  function expectWithin(milliseconds) {
    clearTimeout(watchdog);
    watchdog = setTimeout(fail, milliseconds);
  }

  /** The stream has ended, or was silent for too long: load the current state. */
  function fail() {
    silentSince = hasSpoken ? -Infinity : performance.now();
    close();
    refreshIn(Math.random() * JITTER);
  }

  function close() {
    clearTimeout(watchdog);
    stream?.close();
    stream = null;
    hasSpoken = false;
  }

  // --- The page ---------------------------------------------------------------------------------

  function resume() {
    close();
    isWhole = false;
    page.resumed?.();
    refresh();
  }

  function pause() {
    close();
    clearTimeout(next);
  }

  /** Detect what neither timers nor connections report: a machine that slept, a missed deadline. */
  function tick() {
    const gap = Date.now() - lastTick;
    const moved = drift() - lastDrift;
    lastTick = Date.now();
    lastDrift = drift();
    if (document.hidden || isOver) return;
    page.tick?.();
    const deadline = page.deadline?.() ?? 0;
    if (Math.abs(gap) > SLEPT || Math.abs(moved) > SET) resume();
    else if (deadline && page.clock.now() - deadline > OVERDUE && performance.now() - loadedAt > OVERDUE) refresh();
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : resume()));
  addEventListener("pageshow", (event) => event.persisted && resume());
  addEventListener("pagehide", pause);
  addEventListener("online", resume);
  addEventListener("offline", () => {
    pause();
    page.lost(true);
    refreshIn(POLL);
  });

  setInterval(tick, TICK);
  page.tick?.();
  if (document.hidden) isWhole = false;
  else {
    open();
    refreshIn(page.stream ? FIRST_EVENT / 2 : (page.every ?? POLL));
  }

  return { refresh };
}
