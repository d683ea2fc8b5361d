/* The stream of a solo table, which has only notices for all readers. The page stays unchanged,
   even when the session is over: the next click gets that answer. A house stop, or its end, shows
   at the table at once; so does what was done at it elsewhere: in another window of this browser,
   or while this page was hidden, frozen or without a line. */

import { serverClock } from "../common/clock.js";
import { parseElement } from "../common/dom.js";
import { openStream } from "../common/stream.js";

const POLL = 15_000; // milliseconds between two loads if no stream gets through

const AGAIN = 200; // milliseconds between two looks at a table that is busy
const tables = new BroadcastChannel("sabot.solo");
let isBehind = false; // the page has come back and not yet asked for the state of the table

const { stream, reload } = document.querySelector("script[data-stream]").dataset;

/** Ask for the table as it is. */
const ask = () => document.querySelector("#slip [name=action][value=keep]")?.click();

/** The same, once all cards of a deal are on the table. */
function askWhenAtRest() {
  if (document.querySelector("#game.game--busy, #slip.htmx-request")) setTimeout(askWhenAtRest, AGAIN);
  else ask();
}

document.addEventListener("house:stopped", ask);

const table = () => document.getElementById("slip").getAttribute("hx-post");

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { action } = detail.requestConfig.parameters;
  if (detail.successful && action && action !== "keep") tables.postMessage(table());
});

tables.addEventListener("message", ({ data }) => {
  if (data === table() && !document.hidden) askWhenAtRest();
});

openStream({
  stream,
  every: POLL,
  reload: () => reload,
  take(html) {
    const state = parseElement(html);
    if (state?.id !== "house-now") return null;
    serverClock.set(state.dataset.now, true);
    if (isBehind) askWhenAtRest();
    isBehind = false;
    return state.dataset.stream;
  },
  on: {},
  lost() {},
  resumed() {
    isBehind = true;
  },
  over() {},
});

// The session may have ended in the meantime: its dialog says so, and this page stays.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { requestConfig, xhr } = event.detail;
  if (requestConfig.parameters.action === "keep" && xhr.getResponseHeader("HX-Redirect")) event.preventDefault();
});
