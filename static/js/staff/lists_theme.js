/* The lists of the back office (Unfold) use the reader's theme, which Unfold reads under its own name. Unfold loads scripts
   as classic ones. */
"use strict";

{
  const themes = { light: "light", system: "auto" };
  localStorage.setItem("adminTheme", JSON.stringify(themes[localStorage.getItem("sabot.theme")] ?? "dark"));
}
