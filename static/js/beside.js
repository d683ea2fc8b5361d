/* The page around two live tables. Each table is a page of its own in a frame, with its own line to the house; here is what
   they share: the session's net, the reality check, the end of the session. Frames are loaded where there is room for two;
   one that shows anything but its table gives way to a sentence. */
"use strict";

{
  const ROOM = matchMedia("(min-width: 1180px)"); // as in beside.css
  const frames = Array.from(document.querySelectorAll(".beside__frame"));
  const mode = document.getElementById("beside").dataset.mode;

  function begin() {
    if (!ROOM.matches) return;
    for (const frame of frames) frame.src ||= frame.dataset.src;
  }

  /** Whether a frame has the table in it; what may not be framed cannot be looked into. */
  function hasTable(frame) {
    try {
      return frame.contentDocument.getElementById("live") !== null;
    } catch {
      return false;
    }
  }

  /** Say that the table cannot be shown, and find out whether the session is to blame. */
  function giveWay(frame) {
    const place = frame.nextElementSibling;
    const sentence = place.querySelector("template");
    if (!sentence) return;
    frame.hidden = true;
    place.append(sentence.content);
    sentence.remove();
    if (typeof ask === "function") ask();
  }

  /** Show the reality check that came with an answer to one of the tables, unless it is open already. */
  function showTheirCheck(frame) {
    const theirs = frame.contentDocument.getElementById("check");
    const place = document.getElementById("check-place");
    if (!theirs || place.querySelector("dialog[open]")) return;
    place.replaceChildren(document.adoptNode(theirs));
    const form = theirs.querySelector("form");
    for (const input of form.querySelectorAll("[name=table], [name=mode]")) input.remove();
    form.append(document.getElementById("both").content.cloneNode(true));
    showCheck(theirs);
  }

  const told = {
    check: showTheirCheck,
    net: (frame, text) => {
      if (frame.dataset.mode === mode) document.getElementById("sitting-net").textContent = text;
    },
    touched: () => document.querySelector(":popover-open")?.hidePopover(),
  };

  addEventListener("message", ({ origin, source, data }) => {
    const frame = frames.find((each) => each.contentWindow === source);
    if (origin === location.origin && frame && Object.hasOwn(told, data?.kind)) told[data.kind](frame, String(data.text));
  });

  for (const frame of frames) {
    frame.addEventListener("load", () => { if (frame.src && !hasTable(frame)) giveWay(frame); });
  }

  const check = document.getElementById("check");
  if (check) showCheck(check);
  ROOM.addEventListener("change", begin);
  begin();
}
