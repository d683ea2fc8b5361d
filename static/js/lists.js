/* Lists are as light or dark as the reader chose for the whole house; unfold keeps its own choice under this name. */
"use strict";

const LISTS_THEMES = { light: "light", system: "auto" };
localStorage.setItem("adminTheme", JSON.stringify(LISTS_THEMES[localStorage.getItem("sabot.theme")] ?? "dark"));
