/* The reader's preferences, and the forms that change them: the dialog that any element with
   data-opens="preferences" opens, and every other form with data-preferences. A choice applies
   at once in every open tab and is stored in this browser. "sabot:preferences" on the document
   means that something changed. Theme, felt, deck and motion: appearance.js. */

const DEFAULTS = {
  theme: "dark",
  cloth: "",
  deck: "two",
  motion: "system",
  sound: "off",
  squeeze: "off",
  "squeeze-offered": "no",
};

const dialog = document.getElementById("preferences");
const themeColour = document.querySelector("meta[name=theme-color]");

/** Return the value of a preference: the reader's choice or the default. */
export const preference = (name) => localStorage.getItem(`sabot.${name}`) ?? DEFAULTS[name];

/** Return whether anything may move: neither the reader nor the device prefers less motion. */
export const wantsMotion = () =>
  preference("motion") !== "reduce" && !matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Store a choice and apply it. A default is not stored. */
export function setPreference(name, value) {
  if (value === DEFAULTS[name]) localStorage.removeItem(`sabot.${name}`);
  else localStorage.setItem(`sabot.${name}`, value);
  applyAll();
}

/** Give the browser's frame the colour of the page. */
const paintFrame = () => themeColour.setAttribute("content", getComputedStyle(document.body).backgroundColor);

/** Check the stored values in every form of preferences below *root*. */
function checkStored(root) {
  for (const radio of root.querySelectorAll("[data-preferences] [type=radio]")) {
    radio.checked = preference(radio.name) === radio.value;
  }
}

function applyAll() {
  document.dispatchEvent(new Event("sabot:preferences"));
  checkStored(document);
  paintFrame();
}

/** Open the dialog. When it closes, focus *opener*, or the menu if that hides *opener*. */
function open(opener) {
  checkStored(document);
  dialog.addEventListener(
    "close",
    () => (opener.checkVisibility() ? opener : document.querySelector("[popovertarget=site-menu]")).focus(),
    { once: true },
  );
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens=preferences]");
  if (opener) open(opener);
});

document.addEventListener("change", ({ target }) => {
  if (target.type === "radio" && target.closest("[data-preferences]")) setPreference(target.name, target.value);
});

document.addEventListener("htmx:load", (event) => checkStored(event.target.parentElement ?? document));
addEventListener("storage", applyAll);
matchMedia("(prefers-color-scheme: light)").addEventListener("change", paintFrame);
paintFrame();
