/* Runs before the first paint: tells the style sheets that scripts run here. */
document.documentElement.classList.add("js");
