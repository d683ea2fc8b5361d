/* The sidebar and the search of the back office. A button closes the whole, and each group closes by its heading;
   this browser remembers both. The current page is scrolled into view. appearance.js applies the
   state of the whole before the first paint. The key / moves to the search, arrow keys go through
   what is found, and Escape closes it. */

const GROUPS = "sabot.sidebar.groups";
const root = document.documentElement;
const toggle = document.getElementById("staff-menu-toggle");
const menu = document.getElementById("staff-menu");
const groups = [...menu.querySelectorAll("[data-group]")];

function showState() {
  toggle.setAttribute("aria-expanded", String(root.dataset.sidebar !== "closed"));
}

function scrollToCurrent() {
  const current = menu.querySelector("[aria-current]");
  if (current) menu.scrollTop = current.offsetTop - menu.offsetTop - menu.clientHeight / 2;
}

toggle.addEventListener("click", () => {
  if (root.dataset.sidebar === "closed") localStorage.removeItem("sabot.sidebar");
  else localStorage.setItem("sabot.sidebar", "closed");
  document.dispatchEvent(new Event("sabot:preferences"));
  showState();
});

const closed = new Set((localStorage.getItem(GROUPS) ?? "").split(" "));
for (const group of groups) {
  group.open = !closed.has(group.dataset.group);
  group.addEventListener("toggle", () => {
    const now = groups.filter((each) => !each.open).map((each) => each.dataset.group);
    localStorage.setItem(GROUPS, now.join(" "));
  });
}
menu.addEventListener("toggle", scrollToCurrent);
showState();
scrollToCurrent();

const search = document.querySelector("[data-search]");
const field = search.querySelector("input");
const found = document.getElementById("staff-found");

const isTyping = (element) =>
  element.matches("input, select, textarea, [contenteditable]") || document.querySelector("dialog:modal") !== null;

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  event.preventDefault();
  field.focus();
  field.select();
});

search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    found.replaceChildren();
    field.value = "";
    field.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [field, ...found.querySelectorAll("a")];
  event.preventDefault();
  stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
});
