/* A shared table in the player's hands: clicks in order and none twice, cards that arrive, chips that come and go, and the
   same told to a screen reader, each once. What the table shows comes from live.js, which tells when it has changed. */
"use strict";

{
  const LAST_SECONDS = 5; // in which a countdown also ticks
  const TICK = 250; // milliseconds

  const own = () => document.getElementById("live-own");
  const shown = () => document.getElementById("live-public");
  const buttonFor = (action) => Array.from(document.getElementById("slip").elements).find(({ name, value }) => name === "action" && value === action);

  const clicks = []; // values of the buttons pressed while an answer was under way
  let isUnderWay = false;
  let chosen = null; // value of the chip
  let lastTick = null; // the second of the countdown that was heard last
  let betBefore = ""; // what the meter said of the bets

  // --- Telling ----------------------------------------------------------------------------------------------------------

  const tell = teller(() => shown().dataset.round);

  const roundOf = (part) => part.querySelector("[name=round_id]").value;

  function betTotal() {
    const meter = own().querySelector(".meter--bet");
    return `${meter.querySelector(".meter__name").textContent} ${meter.querySelector(".meter__sum").textContent}`;
  }

  // --- What everybody sees ----------------------------------------------------------------------------------------------

  const cardsOf = (part) => part.querySelectorAll(".card");

  /** Have the cards arrive that were not there before, and what they decide appear. */
  function arrive(before, after) {
    const isSameRound = before.dataset.round === after.dataset.round;
    const known = new Set(isSameRound ? Array.from(cardsOf(before), (card) => card.dataset.due) : []);
    const fresh = Array.from(cardsOf(after)).filter((card) => !known.has(card.dataset.due));
    for (const card of fresh) card.classList.add("card--arrives");
    if (fresh.length) playSound("card");
    for (const each of after.querySelectorAll(".hand__won")) each.classList.toggle("is-new", fresh.length > 0);
    if (before.dataset.phase === "betting" && after.dataset.phase === "closed") playSound("closed");
  }

  /** Why a click was refused is said while bets are taken as they were then; after that it is past. */
  function forgetRefusal(before, after) {
    if (after.dataset.phase !== "betting" || before.dataset.deadline === after.dataset.deadline) return;
    own().querySelector(".call__notice--error")?.remove();
  }

  document.addEventListener("live:public", ({ detail: { before, after } }) => {
    arrive(before, after);
    forgetRefusal(before, after);
    tell(after);
    countDown();
  });

  /** The last seconds for bets: another colour, and a tick each. */
  function countDown() {
    const clock = shown().querySelector(".countdown");
    const seconds = Number(clock?.querySelector("[data-seconds]").textContent);
    const isLast = shown().dataset.phase === "betting" && seconds > 0 && seconds <= LAST_SECONDS;
    clock?.classList.toggle("countdown--last", isLast);
    if (isLast && seconds !== lastTick) playSound("timer");
    lastTick = isLast ? seconds : null;
  }

  // --- What is the player's own -------------------------------------------------------------------------------------------

  const isSettled = (part) => part.querySelector(".spot__bet:not(.spot__bet--open)") !== null;

  /** The player's part has been exchanged: show what became of the bets, and what the session has come to. */
  function changed(before, after) {
    const chip = after.querySelector(`[name=chip][value="${chosen}"]`);
    if (chip) chip.checked = true;
    if (isSettled(after) && !isSettled(before)) settle(after);
    const net = document.getElementById("sitting-net");
    if (net && after.dataset.net) net.textContent = after.dataset.net;
    tell(after);
    const bet = betTotal();
    const isSameRound = roundOf(before) === roundOf(after); // an empty table of a new round is no news
    if (bet !== betBefore && isSameRound && shown().dataset.phase === "betting") say(bet);
    betBefore = bet;
  }

  function settle(part) {
    for (const each of part.querySelectorAll(".spot:has(.spot__lit)")) each.classList.add("is-new");
    const won = part.querySelector(".meter__won");
    if (won) playSound("win");
    if (!wantsMotion()) return;
    moveChips(part);
    if (won) countUp(won, new AbortController().signal);
  }

  document.addEventListener("live:own", ({ detail: { before, after } }) => changed(before, after));

  // --- Clicks -----------------------------------------------------------------------------------------------------------

  /** What is no use now: the call says why. */
  function pointOut(call) {
    if (wantsMotion()) call.animate({ opacity: [1, 0.2, 1] }, { duration: 400, easing: "ease-in-out" });
  }

  function press(event) {
    const button = event.target.closest("button[name=action]");
    if (button?.form?.id !== "slip") return;
    if (button.getAttribute("aria-disabled") === "true") {
      event.preventDefault();
      pointOut(document.querySelector("#live-sheet[open] .sheet__table") ?? shown().querySelector(".live-call__words"));
      return;
    }
    if (isUnderWay) {
      event.preventDefault();
      clicks.push(button.value);
    }
    if (button.value.startsWith("bet:")) {
      playSound("chip");
      dropChip(button);
    }
  }

  /** The answer is on the page: the next click that waited is sent, unless this one was refused. */
  function answered(before) {
    setSittingClock();
    changed(before, own());
    askForCheck();
    if (own().querySelector(".call__notice--error")) clicks.length = 0;
    const next = clicks.length ? buttonFor(clicks.shift()) : null;
    if (next) next.click();
  }

  document.addEventListener("click", press, true);
  document.addEventListener("change", (event) => { if (event.target.name === "chip") chosen = event.target.value; });

  let before = own();
  const isOurs = (event) => event.detail.target?.id === "live-own";

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!isOurs(event)) return;
    isUnderWay = true;
    before = own();
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isOurs(event)) return;
    isUnderWay = false;
    if (event.detail.successful) {
      answered(before);
    } else {
      clicks.length = 0;
      for (const chip of document.querySelectorAll(".chip--landing")) chip.remove();
    }
  });

  tell(shown(), true);
  tell(own(), true);
  betBefore = betTotal();
  askForCheck();
  setInterval(countDown, TICK);
}
