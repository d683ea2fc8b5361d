/* Deals coups with the npm package baccarat-engine for so many seconds and prints how many a second:
   node coups.cjs SECONDS DECKS CUT
   CUT is how many cards lie behind the cut card; "fresh" has every coup dealt from a fresh shuffle. */
"use strict";

const { BaccaratGameEngine } = require("baccarat-engine");

const [seconds, decks] = process.argv.slice(2).map(Number);
const cut = process.argv[4] === "fresh" ? Infinity : Number(process.argv[4]);
const WARM_UP_COUPS = 20_000;
const COUPS_BETWEEN_LOOKS_AT_THE_CLOCK = 1_000;

const game = new BaccaratGameEngine();
game.shoe.decks = decks;

function deal() {
  if (game.shoe.cardsLeft <= cut) {
    game.shoe.cards = [];
    game.shoe.createDecks();
    game.shoe.shuffle();
  }
  return game.resultsEngine.calculateGameResult(game.dealGame());
}

for (let coup = 0; coup < WARM_UP_COUPS; coup += 1) deal();

const begun = performance.now();
let coups = 0;
let elapsed = 0;
while (elapsed < seconds) {
  for (let coup = 0; coup < COUPS_BETWEEN_LOOKS_AT_THE_CLOCK; coup += 1) deal();
  coups += COUPS_BETWEEN_LOOKS_AT_THE_CLOCK;
  elapsed = (performance.now() - begun) / 1000;
}
console.log(coups / elapsed);
