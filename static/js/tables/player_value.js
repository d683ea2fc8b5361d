/* What the player adds to the shuffle at a solo table. Once the seal of the next round is on the page, this script
   draws random bytes and keeps both; DEAL sends the bytes, with the player's own text if there is one. When the round
   is on the page, the script verifies it against what it kept, not against what the server repeats. */

import { showToast } from "../common/toasts.js";
import { keepRound, keptRound } from "../verification/kept_rounds.js";
import { faultOf } from "../verification/solo_round.js";

const BYTES = 16;

let next = null; // what is kept of the round whose seal is on the page
let asked = null; // what is kept of the round that DEAL was last pressed for

const theGame = () => document.getElementById("game");
const isDeal = (action) => theGame().querySelector(`button[value="${action}"]`)?.hasAttribute("data-deal");

function randomHex() {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function showAdded() {
  const added = document.getElementById("added");
  added.querySelector("code").textContent = next.bytes;
  added.hidden = false;
  document.getElementById("not-added").hidden = true;
}

/** Draw the bytes of the round whose seal is on the page, unless this or another window has drawn them. */
async function readSeal() {
  const round = document.querySelector("#next-round [name=round_id]").value;
  if (next?.round === round) return;
  const { purpose, table, decks, rules } = theGame().dataset;
  const seal = document.getElementById("commitment").textContent.trim();
  const named = { purpose, round, table, decks: Number(decks), rules };
  const drawn = { ...named, commitment: seal, bytes: randomHex(), sent: [], at: Date.now() };
  next = drawn;
  const kept = await keepRound(drawn);
  if (next === drawn && drawn.sent.length === 0) next = kept;
  if (next.round === round) showAdded();
}

/** Return the cards on the table, as the reader sees them, in dealing order. */
function cardsShown() {
  const cards = [...document.querySelectorAll("#stage .card")];
  return cards
    .toSorted((a, b) => Number(a.dataset.due) - Number(b.dataset.due))
    .map((card) => {
      const rank = card.querySelector(".card__rank").textContent;
      const [, suit] = /card--([cdhs])(?:lubs|iamonds|earts|pades)/.exec(card.className);
      return (rank === "10" ? "T" : rank) + suit.toUpperCase();
    })
    .join(" ");
}

/** Show the proof that a round is wrong, and keep it. */
function showFault(fault, kept, said) {
  const box = document.getElementById("not-verified");
  for (const sentence of box.querySelectorAll("[data-fault]")) sentence.hidden = sentence.dataset.fault !== fault;
  const proof = { ...kept, proof: { ...said, at: new Date().toISOString() } };
  const link = box.querySelector("a");
  URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([JSON.stringify(proof, null, 2)], { type: "application/json" }));
  link.download = `sabot-${kept.round}.json`;
  box.hidden = false;
  showToast(box.querySelector(`[data-fault=${fault}]`).textContent);
  keepRound(proof);
}

/** Verify the round on the page. A fault stays on the page until it is left. */
async function verify(kept) {
  const tick = document.getElementById("verified");
  tick.hidden = true;
  if (!window.crypto?.subtle || !kept?.sent.length) return;
  const { round = "", seed = "", value = "" } = document.getElementById("last-round").dataset;
  const said = { round, seed, value, cards: cardsShown() };
  const fault = await faultOf({ ...kept, sent: (await keepRound(kept)).sent }, said);
  if (fault) showFault(fault, kept, said);
  else if (document.getElementById("last-round").dataset.round === round) tick.hidden = false;
}

document.addEventListener("htmx:configRequest", ({ detail: { parameters } }) => {
  if (!isDeal(parameters.action)) return;
  readSeal();
  const text = document.getElementById("player-value").value.trim();
  const value = text ? `${next.bytes} ${text}` : next.bytes;
  if (!next.sent.includes(value)) next.sent.push(value);
  parameters.player_value = value;
  asked = next;
  keepRound(asked);
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful) return;
  const { action, round_id: round } = detail.requestConfig.parameters;
  const isDealt = document.getElementById("stage").hasAttribute("data-fresh");
  if (isDeal(action) && isDealt && round === asked?.round) verify(asked);
  readSeal();
});

readSeal();
const last = document.getElementById("last-round").dataset.round;
if (last) verify(await keptRound(last));
