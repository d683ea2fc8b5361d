/* A Chemin de Fer table in a guest's hands: cards that come and turn, chips that go to who has won them, the guest's turn,
   amounts to choose, and the same told to a screen reader, each once. What the table shows comes from live.js, which tells
   when it has changed. */
"use strict";

/** What live.js shows: here nothing is kept back. */
const keepBack = (name, news) => news;

{
  const LAST_SECONDS = 5; // in which the guest's own countdown also ticks
  const TICK = 250; // milliseconds

  const own = () => document.getElementById("live-own");
  const shown = () => document.getElementById("live-public");
  const tell = teller(() => shown().dataset.round);
  const title = document.title;

  let question = null; // that the guest has been told to answer
  let lastTick = null; // the second of the countdown that was heard last
  let isFocused = false; // what is the guest's own has, or had, the focus
  let before = own();

  // --- What everybody sees ----------------------------------------------------------------------------------------------

  /** The cards that lie there, by number, and face down or not. */
  const cardsOf = (part) => Array.from(part.querySelectorAll(".middle .card"), (card) => [card, card.dataset.due ?? "down"]);
  const stakesOf = (part) => Array.from(part.querySelectorAll(".place__stake"), (stake) => stake.textContent).join();

  function arrive(was, now) {
    const known = was.dataset.round === now.dataset.round ? cardsOf(was).map(([, number]) => number) : [];
    const fresh = cardsOf(now).filter(([, number]) => {
      const place = known.indexOf(number);
      if (place >= 0) known.splice(place, 1);
      return place < 0;
    });
    for (const [card] of fresh) card.classList.add(known.includes("down") ? "card--turns" : "card--arrives");
    if (fresh.length) playSound("card");
    else if (stakesOf(was) !== stakesOf(now)) playSound("chip");
    if (was.dataset.phase === "stakes" && now.dataset.phase === "cards") playSound("closed");
  }

  /** Once the coup is over: what is lost goes to the bank, what is won comes from there. */
  function moveStakes(was, now) {
    if (!wantsMotion() || was.querySelector(".place--won, .place--lost")) return;
    for (const stack of now.querySelectorAll(".place--lost .stack")) fly(stack, true);
    for (const stack of now.querySelectorAll(".place--won .stack")) fly(stack, false);
  }

  document.addEventListener("live:public", ({ detail }) => {
    arrive(detail.before, detail.after);
    moveStakes(detail.before, detail.after);
    tell(detail.after);
    countDown();
  });

  // --- The guest's turn ---------------------------------------------------------------------------------------------------

  /** The last seconds for a decision: another colour, and a tick each while it is the guest's. */
  function countDown() {
    const clock = shown().querySelector(".croupier__clock");
    const seconds = Number(clock?.querySelector("[data-seconds]").textContent);
    const isLast = seconds > 0 && seconds <= LAST_SECONDS;
    clock?.classList.toggle("countdown--last", isLast);
    if (isLast && own().dataset.asked && seconds !== lastTick) playSound("timer");
    lastTick = isLast ? seconds : null;
  }

  /** Say in the title of the window, and by a sound, that the guest is asked. */
  function attend(isSilent) {
    const { asked } = own().dataset;
    document.title = asked ? `● ${own().querySelector(".decide__turn").textContent} · ${title}` : title;
    if (asked && asked !== question && !isSilent) playSound("turn");
    question = asked ?? null;
  }

  // --- What is the guest's own ----------------------------------------------------------------------------------------------

  const settledIn = (part) => part.querySelector("[data-settled]")?.dataset;

  /** What was typed, and a question that stands open, outlive what the table tells meanwhile. */
  function keepAnswers(was, now) {
    if (was.dataset.asked === now.dataset.asked) {
      for (const input of was.querySelectorAll("input[type=text]")) {
        const same = document.getElementById(input.id);
        if (same) same.value = input.value;
      }
    }
    if (wasAsking) document.getElementById("leave-ask")?.showPopover?.();
  }

  function changed(was, now) {
    keepAnswers(was, now);
    const net = document.getElementById("sitting-net");
    if (net && now.dataset.net) net.textContent = now.dataset.net;
    const over = settledIn(now);
    if (over?.settled === "won" && settledIn(was)?.of !== over.of) playSound("win");
    tell(now);
    attend(false);
    if (isFocused && document.activeElement === document.body) now.querySelector(".decide").focus({ preventScroll: true });
  }

  let wasAsking = false; // the question before leaving stands open
  document.addEventListener("toggle", (event) => {
    if (event.target.id === "leave-ask" && event.target.isConnected) wasAsking = event.newState === "open";
  }, true);

  document.addEventListener("focusin", (event) => { isFocused = own().contains(event.target); });
  document.addEventListener("live:own", ({ detail }) => changed(detail.before, detail.after));

  document.addEventListener("click", (event) => {
    const quick = event.target.closest("[data-amount]");
    if (!quick) return;
    document.getElementById(quick.dataset.for).value = quick.dataset.amount;
    playSound("chip");
    say(quick.dataset.amount);
  });

  const isOurs = (event) => event.detail.target?.id === "live-own";

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!isOurs(event)) return;
    before = own();
    wasAsking = false;
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (!isOurs(event) || !event.detail.successful) return;
    setSittingClock();
    changed(before, own());
    askForCheck();
  });

  tell(shown(), true);
  tell(own(), true);
  attend(true);
  askForCheck();
  setInterval(countDown, TICK);
}
