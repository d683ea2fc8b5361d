/* Applies the reader's theme to the lists of the back office (Unfold), which store it under
   their own name. Unfold loads scripts as classic ones. */
"use strict";

{
  const themes = { light: "light", system: "auto" };
  localStorage.setItem("adminTheme", JSON.stringify(themes[localStorage.getItem("sabot.theme")] ?? "dark"));
}
