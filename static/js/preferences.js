/* The dialog of preferences, which any element with data-opens="preferences" opens, and any other form of preferences
   (data-preferences) on the page. A choice holds at once, in every open tab, and is kept in this browser; whatever else
   listens hears "sabot:preferences" on the document. */
"use strict";

const preferencesDialog = document.getElementById("preferences");
const themeColour = document.querySelector("meta[name=theme-color]");

/** Let the browser's own frame have the colour of the page. */
const paintFrame = () => themeColour.setAttribute("content", getComputedStyle(document.body).backgroundColor);

/** Show what holds now in every form of preferences below *root*. */
function markPreferences(root) {
  for (const radio of root.querySelectorAll("[data-preferences] [type=radio]")) {
    radio.checked = preference(radio.name) === radio.value;
  }
}

/** Make what is stored hold on this page. */
function renewPreferences() {
  applyPreferences();
  markPreferences(document);
  paintFrame();
  document.dispatchEvent(new Event("sabot:preferences"));
}

/** Show the dialog with what holds now, and give the focus back to where it came from: on a phone the menu. */
function openPreferences(opener) {
  markPreferences(document);
  preferencesDialog.addEventListener(
    "close",
    () => (opener.checkVisibility() ? opener : document.querySelector("[popovertarget=site-menu]")).focus(),
    { once: true },
  );
  preferencesDialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens=preferences]");
  if (opener) openPreferences(opener);
});

document.addEventListener("change", (event) => {
  if (event.target.type !== "radio" || !event.target.closest("[data-preferences]")) return;
  localStorage.setItem(`sabot.${event.target.name}`, event.target.value);
  renewPreferences();
});

document.addEventListener("htmx:load", (event) => markPreferences(event.target.parentElement ?? document));
addEventListener("storage", renewPreferences);
matchMedia("(prefers-color-scheme: light)").addEventListener("change", paintFrame);
paintFrame();
