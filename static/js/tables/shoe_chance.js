/* The player's contribution to the shuffle of a new shoe at a shared table. While the shoe is cut, this script draws
   random bytes, sends their digest, and opens them when all players are bound. When the shoe is on the table, it
   verifies that they are in it, against what it kept. */

import { createServerClock } from "../common/clock.js";
import { showToast } from "../common/toasts.js";
import { keepRound, keptRound } from "../verification/kept_rounds.js";
import { entropyOf, hexDigest } from "../verification/shoe_chance.js";

const BYTES = 16;
const LATER = 200; // milliseconds after which all are bound, whatever the clock says

const clock = createServerClock();
const live = document.getElementById("live");

let cutting = null; // the shoe for which bytes were drawn

/** Send a part of what is added; return whether it was in time. */
async function send(url, fields) {
  const headers = JSON.parse(live.closest("[hx-headers]").getAttribute("hx-headers"));
  try {
    const answer = await fetch(url, { method: "POST", body: new URLSearchParams(fields), headers });
    return answer.ok && (await answer.json()).is_in_time;
  } catch {
    return false;
  }
}

/** Say on the page how far it is. */
function note(shoe, stage) {
  const cut = document.querySelector(`#live-cut[data-shoe="${shoe}"]`);
  if (cut) cut.dataset.added = stage;
}

const until = (moment) => new Promise((resolve) => setTimeout(resolve, Math.max(0, moment - clock.now())));

/** Draw bytes for a shoe, bind the player to them, and open them in time. */
async function addChance({ shoe, bound, open, url }) {
  const drawn = crypto.getRandomValues(new Uint8Array(BYTES));
  const value = Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const digest = await hexDigest(value);
  const commitment = document.querySelector("#live-cut code").textContent.trim();
  const kept = { round: `shoe:${shoe}`, commitment, digest, value, sent: [], at: Date.now() };
  await keepRound(kept);
  if (!(await send(url, { cut: shoe, digest }))) return;
  note(shoe, "bound");
  await until(Number(bound) + LATER);
  if (clock.now() >= Number(open)) return;
  if (!(await send(url, { cut: shoe, value }))) return;
  await keepRound({ ...kept, sent: ["opened"] });
  note(shoe, "opened");
}

/** Verify that a shoe has what this browser added to it, if it was sent in time. */
async function verify(told) {
  const kept = await keptRound(`shoe:${told.dataset.shoe}`);
  if (!kept?.sent.includes("opened")) return;
  const { commitment, entropy, chances } = told.dataset;
  const lines = chances ? chances.split(",") : [];
  const isIn = lines.includes(`${kept.digest} ${kept.value}`) && kept.commitment === commitment;
  const holds = isIn && (await entropyOf(lines)) === entropy;
  const sentence = told.querySelector(`[data-mine=${holds ? "added" : "missing"}]`);
  sentence.hidden = false;
  if (holds) return;
  showToast(sentence.textContent);
  keepRound({ ...kept, proof: { commitment, entropy, chances: lines, at: new Date().toISOString() } });
}

function look() {
  const cut = document.getElementById("live-cut");
  if (cut && cut.dataset.shoe !== cutting) {
    cutting = cut.dataset.shoe;
    addChance(cut.dataset);
  }
  const told = document.getElementById("live-chances");
  if (told && !told.dataset.seen) {
    told.dataset.seen = "yes";
    verify(told);
  }
}

clock.set(live.dataset.now, true);
document.addEventListener("live:public", look);
if (window.crypto?.subtle) look();
