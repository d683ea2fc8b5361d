/* Marks the page as scripted for the style sheets, and applies the reader's theme, felt, deck, motion and
   (in the back office) sidebar to the root element. It runs before the first paint, so it is a classic script and not
   a module. Without a choice there is no attribute. */
"use strict";

{
  const root = document.documentElement;
  const schemes = { light: "light", system: "light dark" };

  const apply = () => {
    for (const name of ["theme", "cloth", "deck", "motion", "sidebar"]) {
      const chosen = localStorage.getItem(`sabot.${name}`);
      if (chosen === null) delete root.dataset[name];
      else root.dataset[name] = chosen;
    }
    document.querySelector("meta[name=color-scheme]").content = schemes[root.dataset.theme] ?? "dark";
  };

  root.classList.add("js");
  apply();
  document.addEventListener("sabot:preferences", apply);
}
