/* The server's clock for countdowns, and the formatting of times in a time zone. */

/** Return a monotonic time: the browser's clock may be set while the page is open. */
const elapsed = () => performance.timeOrigin + performance.now();

/** Return a clock that runs like the server's, whatever the browser's clock says. */
export function createServerClock() {
  let ahead = null; // milliseconds that the server is ahead of the page; null before it has said its time

  return {
    now: () => elapsed() + (ahead ?? 0),

    /** Set the clock from a server timestamp: milliseconds or ISO 8601. The latest of several is the
        most exact. */
    set(timestamp, isFirst) {
      const sample = Number.isFinite(Number(timestamp)) ? Number(timestamp) : Date.parse(timestamp);
      if (Number.isNaN(sample)) return;
      ahead = isFirst || ahead === null ? sample - elapsed() : Math.max(ahead, sample - elapsed());
    },
  };
}

/** The clock of the page. */
export const serverClock = createServerClock();

const formats = new Map();

/** Format a moment as 21:07 in a time zone, or as 21:07:05 with seconds. */
export function formatTime(moment, timeZone, withSeconds) {
  const key = `${timeZone} ${withSeconds}`;
  if (!formats.has(key)) {
    const second = withSeconds ? "2-digit" : undefined;
    const options = { hour: "2-digit", minute: "2-digit", second, timeZone, hourCycle: "h23" };
    formats.set(key, new Intl.DateTimeFormat("en-GB", options));
  }
  return formats.get(key).format(new Date(moment));
}
