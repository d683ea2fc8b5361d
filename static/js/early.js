/* Runs before the first paint: tells the style sheets that scripts run here, and what the reader chose in the preferences.
   What is as the house has it leaves no attribute. */
"use strict";

const HOUSE_PREFERENCES = { theme: "dark", deck: "two", motion: "system", sound: "off", squeeze: "off" };

const preference = (name) => localStorage.getItem(`sabot.${name}`) ?? HOUSE_PREFERENCES[name];

/** Whether anything may move: neither the reader nor the device has asked for less. */
const wantsMotion = () => preference("motion") !== "reduce" && !matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Write what was chosen where the style sheets look for it: theme, deck and motion on the root element. */
function applyPreferences() {
  const root = document.documentElement;
  for (const name of ["theme", "deck", "motion"]) {
    const chosen = preference(name);
    if (chosen === HOUSE_PREFERENCES[name]) delete root.dataset[name];
    else root.dataset[name] = chosen;
  }
  const schemes = { light: "light", system: "light dark" };
  document.querySelector("meta[name=color-scheme]").content = schemes[preference("theme")] ?? "dark";
}

document.documentElement.classList.add("js");
applyPreferences();
