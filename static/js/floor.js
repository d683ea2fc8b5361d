/* The floor follows its tables (line.js). What is told of a table takes the place of what stood there, and nothing that
   is typed is in that: forms are asked for when a row unfolds, and stay as they are until it is folded again.

   Rows change their order only while nobody is at them: no form is unfolded, and the focus is elsewhere. */
"use strict";

{
  const POLL = 4_000; // milliseconds between two questions where no stream gets through
  const BEHIND = 1_500; // past a deadline by which the next news are on their way

  const list = document.getElementById("floor");
  const said = document.getElementById("floor-said");
  const lineLost = document.getElementById("floor-lost");
  const choice = document.getElementById("floor-choice");
  const none = document.getElementById("floor-none");
  const clock = houseClock();
  const head = () => document.getElementById("floor-head");
  const rows = () => Array.from(list.children);

  function parsed(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.firstElementChild;
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  /** Put something in its place; the focus stays on what is called the same. */
  function exchange(before, after) {
    const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
    before.replaceWith(after);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  // --- Rows -------------------------------------------------------------------------------------------------------------

  const alarmsOf = (row) => new Map(Array.from(row.querySelectorAll("[data-alarm]"), (each) => [each.dataset.alarm, each]));

  /** Say what of a row wants somebody since now; once, and when whoever reads has finished. */
  function announce(before, after) {
    const known = before ? alarmsOf(before) : new Map();
    for (const [code, alarm] of alarmsOf(after)) {
      if (!known.has(code)) write(said, `${after.dataset.name}: ${alarm.firstChild.textContent}`);
    }
  }

  /** Say beside a form which round it is about, where that is not the one on the table any more. */
  function warn(row) {
    for (const said of row.querySelectorAll("[data-about]")) said.hidden = said.dataset.about === row.dataset.round;
  }

  function show(after) {
    clock.set(after.dataset.now);
    const before = document.getElementById(after.id);
    if (before?.dataset.version === after.dataset.version) return;
    announce(before, after);
    if (before) {
      exchange(before.querySelector(".floor-row__live"), after.querySelector(".floor-row__live"));
      before.className = after.className;
      Object.assign(before.dataset, after.dataset);
      warn(before);
    } else list.append(after);
    sieve();
    tick();
  }

  function showHead(after) {
    clock.set(after.dataset.now);
    if (head().dataset.version !== after.dataset.version) exchange(head(), after);
    arrange();
  }

  function arrange() {
    if (list.contains(document.activeElement) || list.querySelector(".floor-row__deeds[open]")) return;
    const wanted = head().dataset.order.split(" ");
    if (wanted.join(" ") === rows().map((row) => row.id).join(" ")) return;
    for (const key of wanted) {
      const row = document.getElementById(key);
      if (row) list.append(row);
    }
  }

  // --- Which of them ----------------------------------------------------------------------------------------------------

  /** Show those that are asked for, and one at which somebody types. */
  function sieve() {
    const asked = new FormData(choice);
    for (const row of rows()) {
      const fits = [row.dataset.state, ""].includes(asked.get("state"))
        && [row.dataset.game, ""].includes(asked.get("game"))
        && (!asked.has("needs") || row.querySelector("[data-alarm]"));
      row.hidden = !fits && !row.querySelector(".floor-row__deeds[open]");
    }
    none.hidden = rows().some((row) => !row.hidden);
  }

  choice.addEventListener("change", () => {
    const asked = new URLSearchParams(Array.from(new FormData(choice)).filter(([, value]) => value));
    history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
    sieve();
  });
  choice.addEventListener("submit", (event) => event.preventDefault());

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href='#close-tables']");
    if (link) document.getElementById("close-tables").closest("details").open = true;
  });

  document.getElementById("close-game")?.addEventListener("change", ({ target }) => {
    const label = document.querySelector("[data-chosen]");
    label.dataset.unchosen ??= label.textContent;
    write(label, target.value ? `${label.dataset.chosen}${target.selectedOptions[0].text}` : label.dataset.unchosen);
  });

  // A link to a row that the choice leaves out would lead nowhere.
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".floor-head a[href^='#']");
    const row = link && document.getElementById(link.hash.slice(1));
    if (row) row.hidden = false;
  });

  // --- What can be done -------------------------------------------------------------------------------------------------

  const isTyped = (forms) => Array.from(forms.querySelectorAll("input:not([type=hidden])")).some((input) => input.value && input.type !== "checkbox" || input.checked);

  async function ask(address, forms) {
    forms.setAttribute("aria-busy", "true"); // which the page shows
    await htmx.ajax("GET", address, { target: forms, swap: "innerHTML" });
    forms.removeAttribute("aria-busy");
  }

  list.addEventListener("toggle", ({ target }) => {
    if (!target.matches(".floor-row__deeds")) return;
    const forms = target.querySelector(".floor-row__forms");
    if (target.open && !isTyped(forms)) ask(target.dataset.deeds, forms);
    if (!target.open) sieve();
  }, true); // it does not bubble

  // --- Time -------------------------------------------------------------------------------------------------------------

  function tick() {
    for (const time of list.querySelectorAll("[data-deadline]")) {
      const left = Number(time.dataset.deadline) - clock.now();
      write(time, left < -BEHIND ? "…" : `${Math.max(0, Math.ceil(left / 1000))} s`);
    }
  }

  for (const row of rows()) clock.set(row.dataset.now, true);
  openLine({
    stream: lineLost.dataset.stream,
    every: POLL,
    reload: () => lineLost.dataset.reload,
    take(html, isLatest) {
      const fresh = parsed(html);
      if (fresh?.id !== "floor-now") return null;
      const newHead = fresh.querySelector("#floor-head");
      clock.set(newHead.dataset.now, true);
      if (isLatest) {
        for (const row of Array.from(fresh.querySelector("ul").children)) show(row);
        showHead(newHead);
      }
      return fresh.dataset.stream;
    },
    on: { row: (html) => show(parsed(html)), head: (html) => showHead(parsed(html)) },
    lost: (isLost) => write(lineLost, isLost ? lineLost.dataset.lost : ""),
    tick,
    clock,
  });
}
