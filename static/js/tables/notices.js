/* The stream of a solo table, which has only notices for all readers. The page stays unchanged,
   even when the session is over: the next click gets that answer. Only a house stop, or its end,
   shows at the table at once. */

import { parseElement } from "../common/dom.js";
import { openStream } from "../common/stream.js";

const POLL = 15_000; // milliseconds between two loads if no stream gets through

const { stream, reload } = document.querySelector("script[data-stream]").dataset;

document.addEventListener("house:stopped", () => document.querySelector("#slip [name=action][value=keep]")?.click());

openStream({
  stream,
  every: POLL,
  reload: () => reload,
  take(html) {
    const state = parseElement(html);
    return state?.id === "house-now" ? state.dataset.stream : null;
  },
  on: {},
  lost() {},
  over() {},
});
