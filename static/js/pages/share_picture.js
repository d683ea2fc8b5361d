/* The result of a finished round as a picture: a still of the table with its cards, the result, the day, the house's
   name, and what proves the round. Everything is read from the page, and nothing of it is about the player. */

const [WIDTH, HEIGHT] = [1200, 630];
const [CARD_WIDTH, CARD_HEIGHT, GAP] = [118, 168, 14];
const SUITS = { clubs: "♣", diamonds: "♦", hearts: "♥", spades: "♠" };
const INK = { felt: "#0e4a35", rim: "#c9a45c", paper: "#fdfaf2", light: "#f3efe2", dim: "#b9cfc4" };
const CARDS = { red: "#b3261e", black: "#1a1a1a" };
const SIDES = { player: "#9cc4f5", banker: "#f5a9a0" };

const button = document.getElementById("share-picture");
const said = document.getElementById("share-said");
const fontOf = (element) => getComputedStyle(element).fontFamily;
const fonts = { serif: fontOf(document.querySelector("h1")), sans: fontOf(document.body) };
const textOf = (selector) => document.querySelector(selector)?.textContent.replace(/\s+/g, " ").trim() ?? "";

/** Write a line of text, smaller if it has no room. */
function write(
  pen,
  text,
  x,
  y,
  { size, family = fonts.sans, colour = INK.light, align = "center", room = WIDTH - 120 },
) {
  let height = size;
  do pen.font = `600 ${height}px ${family}`;
  while (pen.measureText(text).width > room && (height -= 2) > 12);
  pen.fillStyle = colour;
  pen.textAlign = align;
  pen.fillText(text, x, y);
}

function drawFelt(pen) {
  const light = pen.createRadialGradient(WIDTH / 2, 180, 60, WIDTH / 2, 260, 760);
  light.addColorStop(0, "#1c6a4e");
  light.addColorStop(1, INK.felt);
  pen.fillStyle = light;
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  pen.strokeStyle = INK.rim;
  pen.lineWidth = 6;
  pen.beginPath();
  pen.roundRect(18, 18, WIDTH - 36, HEIGHT - 36, 36);
  pen.stroke();
}

function drawCard(pen, card, x, y) {
  const suit = Object.keys(SUITS).find((name) => card.classList.contains(`card--${name}`));
  const rank = card.querySelector(".card__rank").textContent.trim();
  const colour = suit === "hearts" || suit === "diamonds" ? CARDS.red : CARDS.black;
  pen.save();
  pen.shadowColor = "rgb(0 0 0 / 45%)";
  pen.shadowBlur = 14;
  pen.shadowOffsetY = 5;
  pen.fillStyle = INK.paper;
  pen.beginPath();
  pen.roundRect(x, y, CARD_WIDTH, CARD_HEIGHT, 12);
  pen.fill();
  pen.restore();
  write(pen, rank, x + 26, y + 44, { size: 36, family: fonts.serif, colour, room: 40 });
  write(pen, SUITS[suit], x + CARD_WIDTH / 2, y + 128, { size: 84, colour, room: CARD_WIDTH });
}

/** Draw a hand around the middle of its half: name and total above, its cards in the order of the deal. */
function drawHand(pen, side, middle) {
  const hand = document.querySelector(`#game .hand--${side}`);
  const cards = Array.from(hand.querySelectorAll(".card"));
  const score = hand.querySelector(".hand__score > [aria-hidden]").textContent.trim();
  const name = hand.querySelector(".hand__name").textContent.trim();
  write(pen, `${name}  ${score}`, middle, 168, { size: 40, family: fonts.serif, colour: SIDES[side], room: 500 });
  const width = cards.length * (CARD_WIDTH + GAP) - GAP;
  cards.forEach((card, at) => drawCard(pen, card, middle - width / 2 + at * (CARD_WIDTH + GAP), 200));
}

/** Return the picture as a file. */
async function draw() {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  const pen = canvas.getContext("2d");
  drawFelt(pen);
  write(pen, "Sabot", 60, 84, { size: 48, family: fonts.serif, colour: INK.rim, align: "left" });
  write(pen, button.dataset.game, WIDTH - 60, 80, { size: 30, align: "right", room: 700 });
  drawHand(pen, "player", WIDTH * 0.27);
  drawHand(pen, "banker", WIDTH * 0.73);
  write(pen, textOf("#game .call__result"), WIDTH / 2, 450, { size: 52, family: fonts.serif });
  write(pen, button.dataset.at, WIDTH / 2, 502, { size: 28, colour: INK.dim });
  write(pen, `${textOf("h1")} · ${button.dataset.seal}`, WIDTH / 2, 556, { size: 24, colour: INK.dim });
  write(pen, `18+ · ${location.host}`, WIDTH / 2, 590, { size: 20, colour: INK.dim });
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new File([blob], `sabot-${button.dataset.code}.png`, { type: "image/png" });
}

function save(file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  said.textContent = said.dataset.saved;
}

/** Hand the picture to the device, or save it where the device takes none. A share that is called off saves nothing. */
async function share() {
  const file = await draw();
  if (!navigator.canShare?.({ files: [file] })) return save(file);
  try {
    return await navigator.share({ files: [file], title: textOf("h1") });
  } catch (error) {
    return error.name === "AbortError" ? null : save(file);
  }
}

button.addEventListener("click", share);
