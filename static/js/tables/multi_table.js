/* The page around several tables. Each table is a page of its own in a frame, with its own stream.
   This page has the shared parts: the balance, the result of the session, the reality check, the
   end of the session. Frames are loaded if there is room for two. A frame that shows anything but
   its table is replaced by a sentence. */

import { checkSession } from "../common/session.js";
import { openRealityCheck } from "./reality_check.js";

const ROOM = matchMedia("(min-width: 1180px)"); // as in multi_table.css
const frames = Array.from(document.querySelectorAll(".multi-table__frame"));
const mode = document.getElementById("multi-table").dataset.mode;

function begin() {
  if (!ROOM.matches) return;
  for (const frame of frames) frame.src ||= frame.dataset.src;
}

/** Return whether a frame shows its table. The document of a refused frame cannot be read. */
function hasTable(frame) {
  try {
    return frame.contentDocument.getElementById("live") !== null;
  } catch {
    return false;
  }
}

/** Show that the table is not available, and check whether the session is over. */
function replaceFrame(frame) {
  const place = frame.nextElementSibling;
  const sentence = place.querySelector("template");
  if (!sentence) return;
  frame.hidden = true;
  place.append(sentence.content);
  sentence.remove();
  checkSession();
}

/** Open the reality check that one of the tables received, unless one is open. */
function openCheckOf(frame) {
  const theirs = frame.contentDocument.getElementById("check");
  const place = document.getElementById("check-slot");
  if (!theirs || place.querySelector("dialog[open]")) return;
  place.replaceChildren(document.adoptNode(theirs));
  const form = theirs.querySelector("form");
  for (const input of form.querySelectorAll("[name=table], [name=mode]")) input.remove();
  form.append(document.getElementById("all-tables").content.cloneNode(true));
  openRealityCheck(theirs);
}

/** Show the big road of a table above its frame: the results of the shoe, without opening a panel. */
function showRoad(frame) {
  const road = frame.contentDocument.querySelector("#live-board .board__road--big svg");
  const place = frame.closest("section").querySelector(".multi-table__road");
  place.replaceChildren(...(road ? [document.importNode(road, true)] : []));
}

const handlers = {
  board: showRoad,
  check: openCheckOf,
  net: (frame, text) => {
    if (frame.dataset.mode === mode) document.getElementById("play-session-net").textContent = text;
  },
  balance: (frame, text) => {
    const balance = document.querySelector("#bar-balance b");
    if (balance && frame.dataset.mode === "real") balance.textContent = text;
  },
  touched: () => document.querySelector(":popover-open")?.hidePopover(),
};

addEventListener("message", ({ origin, source, data }) => {
  const frame = frames.find((each) => each.contentWindow === source);
  if (origin === location.origin && frame && Object.hasOwn(handlers, data?.kind))
    handlers[data.kind](frame, String(data.text));
});

for (const frame of frames) {
  frame.addEventListener("load", () => {
    if (!frame.src) return;
    if (hasTable(frame)) showRoad(frame);
    else replaceFrame(frame);
  });
}

const check = document.getElementById("check");
if (check) openRealityCheck(check);
ROOM.addEventListener("change", begin);
begin();
