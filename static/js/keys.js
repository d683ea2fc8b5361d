/* Single keys for what a table offers, and the dialog that lists them. A key presses the control that stands on the page, so
   it does what a click does and nothing more; what the game does not offer has no key. */
"use strict";

const KEYS_KEY = "sabot.keys"; // in localStorage: "off" where the reader does without
const CHIP_KEYS = ["1", "2", "3", "4", "5", "6", "7", "8"];
const FAVOURITE_KEYS = ["G", "H", "J"]; // beside F, which shows them
const BET_KEYS = { P: "player", T: "tie", B: "banker" }; // by their tones
const BUTTON_KEYS = {
  D: "act-deal",
  U: "act-undo",
  C: "act-clear",
  X: "act-double",
  "Shift+X": "act-double_deal",
  R: "act-rebet",
  F: "tab-favourites",
  "Shift+R": "act-rebet_deal",
  S: "sound",
  "?": "keys",
};

const byId = (id) => () => document.getElementById(id);
const mainBet = (kind, tone) => () => document.querySelector(`.${kind}[data-tone="${tone}"]:not(.${kind}--side)`);

// Each: the key, with Shift where that is held, and how to find the control it presses.
const SHORTCUTS = [
  ...CHIP_KEYS.map((key, index) => ({ key, find: () => document.querySelectorAll(".tray [name=chip]")[index] })),
  ...Object.entries(BET_KEYS).map(([key, tone]) => ({ key, find: mainBet("spot", tone) })),
  ...Object.entries(BET_KEYS).map(([key, tone]) => ({ key: `Shift+${key}`, find: mainBet("take", tone) })),
  ...FAVOURITE_KEYS.map((key, index) => ({ key, find: () => document.querySelectorAll(".favourite__place")[index] })),
  ...Object.entries(BUTTON_KEYS).map(([key, id]) => ({ key, find: byId(id) })),
];

const keysDialog = document.getElementById("shortcuts");
const keysSwitch = document.getElementById("keys-on");
const keysAreOn = () => localStorage.getItem(KEYS_KEY) !== "off";

/** The key as the list writes it. Letters by what is printed on them, digits also where a layout puts them under Shift. */
function keyOf(event) {
  if (/^\d$/.test(event.key)) return event.key;
  const digit = !event.shiftKey && event.code.match(/^(?:Digit|Numpad)(\d)$/);
  if (digit) return digit[1];
  return event.shiftKey && /^\p{L}$/u.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key.toUpperCase();
}

const isTyping = (target) => target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");

function isMeantForUs(event) {
  const held = event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing;
  return keysAreOn() && !held && !isTyping(event.target) && !document.querySelector("dialog[open], :popover-open");
}

document.addEventListener("keydown", (event) => {
  if (!isMeantForUs(event)) return;
  const pressed = keyOf(event);
  const control = SHORTCUTS.find(({ key }) => key === pressed)?.find();
  if (!control) return;
  event.preventDefault();
  control.click();
  if (control.name === "chip") say(control.ariaLabel); // the focus is elsewhere: nothing else would tell
});

// --- The dialog -----------------------------------------------------------------------------------------------------------

const nameOf = (control) =>
  (control.ariaLabel ?? (control.querySelector(".spot__name") ?? control).textContent).replaceAll("\u00AD", "").trim();

function line(key, control) {
  const row = document.createElement("div");
  const keys = document.createElement("dt");
  const name = document.createElement("dd");
  for (const each of key.split("+")) {
    const cap = document.createElement("kbd");
    cap.textContent = each;
    keys.append(cap);
  }
  name.textContent = nameOf(control);
  row.append(keys, name);
  return row;
}

function showKeys() {
  const offered = SHORTCUTS.map(({ key, find }) => [key, find()]).filter(([, control]) => control);
  keysDialog.querySelector(".keys").replaceChildren(...offered.map(([key, control]) => line(key, control)));
  keysSwitch.checked = keysAreOn();
  keysDialog.showModal();
}

document.getElementById("keys").addEventListener("click", showKeys);

keysSwitch.addEventListener("change", () => localStorage.setItem(KEYS_KEY, keysSwitch.checked ? "on" : "off"));
