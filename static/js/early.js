/* Runs before the first paint: tells the style sheets that scripts run here, and which theme the reader chose. The house
   is a night card room unless somebody asks for light. */
document.documentElement.classList.add("js");
if (localStorage.getItem("sabot.theme") === "light") document.documentElement.dataset.theme = "light";
