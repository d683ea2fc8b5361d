/* Keyboard shortcuts of a table, and the dialog that lists them. A key only clicks a control of
   the page. Controls that the game does not have have no key. */

import { say } from "./announcements.js";

const SETTING = "sabot.keys"; // in localStorage: "off" if the player has switched them off
const CHIP_KEYS = ["1", "2", "3", "4", "5", "6", "7", "8"];
const FAVOURITE_KEYS = ["G", "H", "J"]; // next to F, which shows them
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

// The key, with Shift if needed, and how to find the control that it clicks.
const SHORTCUTS = [
  ...CHIP_KEYS.map((key, index) => ({ key, find: () => document.querySelectorAll(".tray [name=chip]")[index] })),
  ...Object.entries(BET_KEYS).map(([key, tone]) => ({ key, find: mainBet("spot", tone) })),
  ...Object.entries(BET_KEYS).map(([key, tone]) => ({ key: `Shift+${key}`, find: mainBet("take", tone) })),
  ...FAVOURITE_KEYS.map((key, index) => ({ key, find: () => document.querySelectorAll(".favourite__button")[index] })),
  ...Object.entries(BUTTON_KEYS).map(([key, id]) => ({ key, find: byId(id) })),
];

const dialog = document.getElementById("shortcuts");
const toggle = document.getElementById("keys-on");
const isOn = () => localStorage.getItem(SETTING) !== "off";

/** Return the key as the list writes it: letters by what they type, digits also on layouts that
    need Shift for them. */
function keyOf(event) {
  if (/^\d$/.test(event.key)) return event.key;
  const digit = !event.shiftKey && event.code.match(/^(?:Digit|Numpad)(\d)$/);
  if (digit) return digit[1];
  return event.shiftKey && /^\p{L}$/u.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key.toUpperCase();
}

const isTyping = (target) =>
  target.closest("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");

function isShortcut(event) {
  const held = event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing;
  return isOn() && !held && !isTyping(event.target) && !document.querySelector("dialog[open], :popover-open");
}

document.addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  const pressed = keyOf(event);
  const control = SHORTCUTS.find(({ key }) => key === pressed)?.find();
  if (!control) return;
  event.preventDefault();
  control.click();
  if (control.name === "chip") say(control.ariaLabel); // nothing else announces it
});

// --- The dialog ---------------------------------------------------------------------------------

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

function openDialog() {
  const offered = SHORTCUTS.map(({ key, find }) => [key, find()]).filter(([, control]) => control);
  dialog.querySelector(".keys").replaceChildren(...offered.map(([key, control]) => line(key, control)));
  toggle.checked = isOn();
  dialog.showModal();
}

document.getElementById("keys").addEventListener("click", openDialog);

toggle.addEventListener("change", () => localStorage.setItem(SETTING, toggle.checked ? "on" : "off"));
