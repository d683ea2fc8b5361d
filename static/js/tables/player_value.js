/* The player's contribution to the shuffle at a solo table. Once the seal of the next round is on the page, this script
   draws random bytes and keeps both; DEAL sends the bytes, with the player's own text if there is one. When the round
   is on the page, the script verifies it against what it kept, not against what the server repeats. */

import { showToast } from "../common/toasts.js";
import { keepRound, keptRound } from "../verification/kept_rounds.js";
import { verifyRound } from "../verification/solo_round.js";

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
  const { purpose, table, decks, rules, keys } = theGame().dataset;
  const seal = document.getElementById("commitment").textContent.trim();
  const named = { purpose, round, table, decks: Number(decks), rules };
  const known = { commitment: seal, keys: keys.split(" ").filter(Boolean) };
  const drawn = { ...named, ...known, bytes: randomHex(), sent: [], at: Date.now() };
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

/** Return the stakes on the table in minor units by bet, or null where they are not those of the last round. */
function stakesShown() {
  const bets = [...theGame().querySelectorAll(".spot__bet:not(.spot__bet--open)")];
  if (!bets.length) return null;
  return Object.fromEntries(bets.map((bet) => [bet.closest("[data-bet]").dataset.bet, Number(bet.dataset.stake)]));
}

/** Return what the dealer signed of the round on the page: as the answer to DEAL brought it, or from its proof. */
async function signedDeal({ epoch, deal, stakes, signature, proof }) {
  if (proof) return (await fetch(proof)).json();
  const bets = (stakes ?? "").split(" ").filter(Boolean);
  const byBet = Object.fromEntries(bets.map((bet) => bet.split("=")).map(([bet, amount]) => [bet, Number(amount)]));
  return { epoch, deal, stakes: byBet, signature: signature ?? "" };
}

/** Verify the round on the page. A fault stays on the page until it is left. */
async function verify(kept) {
  const tick = document.getElementById("verified");
  tick.hidden = true;
  if (!window.crypto?.subtle || !kept?.sent.length) return;
  const { round = "", seed = "", value = "", ...last } = document.getElementById("last-round").dataset;
  const cards = cardsShown();
  const shown = stakesShown();
  const { epoch, deal, stakes, signature } = await signedDeal(last);
  const said = { round, seed, player_value: value, cards, epoch, deal, stakes: shown ?? stakes, signature };
  const { fault, isSigned } = await verifyRound({ ...kept, sent: (await keepRound(kept)).sent }, said);
  if (fault) return showFault(fault, kept, said);
  if (document.getElementById("last-round").dataset.round !== round) return undefined;
  if (!isSigned) tick.title = tick.dataset.unsigned;
  tick.setAttribute("aria-label", tick.title);
  tick.hidden = false;
  return undefined;
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
if (last) verify(await keptRound(last)).catch(() => {}); // without a network there is no proof and no tick
