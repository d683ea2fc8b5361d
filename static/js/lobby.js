/* The lobby follows its tables. What moves on a card is told by the line (line.js) and put in its place by its id; whoever
   has not logged in asks for it now and then. Countdowns follow the house's time. */
"use strict";

{
  const VISITORS = 15_000; // milliseconds between two questions of a page that has no line
  const PLAYERS = 4_000; // and of one whose line is lost
  const BEHIND = 1_500; // past a deadline by which the next news are on their way

  const lineLost = document.getElementById("lobby-lost");
  const clock = houseClock();

  function parsed(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.firstElementChild;
  }

  /** Put what moves on a card in its place, unless it says what stands there already. */
  function show(after) {
    if (after?.dataset.now) clock.set(after.dataset.now);
    const before = document.getElementById(after?.id ?? "");
    if (!before || before.dataset.key === after.dataset.key) return;
    before.replaceWith(after);
    const wayIn = after.closest(".table-card").querySelector("[data-way-in]");
    if (wayIn) wayIn.hidden = after.dataset.mayEnter === undefined;
    if (after.dataset.deadline) count(after);
  }

  function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  function count(card) {
    const { deadline, length } = card.dataset;
    const left = Number(deadline) - clock.now();
    const part = Math.max(0, Math.min(1, left / Number(length)));
    card.querySelector("[data-ring]").setAttribute("stroke-dasharray", `${(part * 100).toFixed(1)} 100`);
    write(card.querySelector("[data-seconds]"), left < -BEHIND ? "…" : String(Math.max(0, Math.ceil(left / 1000))));
  }

  function counting() {
    return document.querySelectorAll("#tables .card-live[data-deadline]");
  }

  function tick() {
    for (const card of counting()) count(card);
  }

  if (lineLost) {
    const isVisitor = !lineLost.dataset.stream;
    for (const card of counting()) clock.set(card.dataset.now, true);
    const line = openLine({
      stream: lineLost.dataset.stream,
      every: isVisitor ? VISITORS : PLAYERS,
      reload: () => lineLost.dataset.reload,
      take(html, isLatest) {
        const fresh = parsed(html);
        if (fresh?.id !== "lobby-now" || (!isVisitor && !fresh.dataset.stream)) return null;
        if (fresh.dataset.now) clock.set(fresh.dataset.now, true);
        if (isLatest) for (const card of Array.from(fresh.children)) show(card);
        return fresh.dataset.stream;
      },
      on: { lobby: (html) => show(parsed(html)) },
      lost: (isLost) => write(lineLost, isLost ? lineLost.dataset.lost : ""),
      tick,
      deadline: () => (isVisitor ? 0 : Math.min(...Array.from(counting(), (card) => Number(card.dataset.deadline)), Infinity)),
      clock,
    });
    document.addEventListener("htmx:afterSettle", (event) => {
      if (event.detail.target?.id === "tables") line.refresh(); // what was told meanwhile had no place yet
    });
  }
}
