/* The house's few sounds, made on the spot: nothing to load, off until switched on, and never needed to follow the game. */
"use strict";

const SOUND_KEY = "sabot.sound";
let speaker = null; // an AudioContext, made at the first sound: browsers allow one only after a click

const soundIsOn = () => localStorage.getItem(SOUND_KEY) === "on";

/** One tone that dies away: *pitch* in Hz, *start* and *length* in seconds from now. */
function tone(pitch, start, length, loudness, shape = "sine") {
  const at = speaker.currentTime + start;
  const voice = new OscillatorNode(speaker, { type: shape, frequency: pitch });
  const volume = new GainNode(speaker, { gain: 0 });
  volume.gain.setValueAtTime(loudness, at);
  volume.gain.exponentialRampToValueAtTime(0.0001, at + length);
  voice.connect(volume).connect(speaker.destination);
  voice.start(at);
  voice.stop(at + length);
}

/** A short breath of noise around *pitch* Hz: paper on cloth. */
function breath(pitch, length, loudness) {
  const samples = Math.ceil(speaker.sampleRate * length);
  const buffer = new AudioBuffer({ length: samples, sampleRate: speaker.sampleRate });
  const wave = buffer.getChannelData(0);
  for (let i = 0; i < samples; i++) wave[i] = (Math.random() * 2 - 1) * (1 - i / samples) ** 2;
  const source = new AudioBufferSourceNode(speaker, { buffer });
  const filter = new BiquadFilterNode(speaker, { type: "bandpass", frequency: pitch, Q: 0.8 });
  source.connect(filter).connect(new GainNode(speaker, { gain: loudness })).connect(speaker.destination);
  source.start();
}

const SOUNDS = {
  chip: () => {
    tone(2100, 0, 0.05, 0.12, "triangle");
    tone(3150, 0.03, 0.05, 0.08, "triangle");
  },
  card: () => breath(1800, 0.12, 0.5),
  win: () => [523, 659, 784].forEach((pitch, i) => tone(pitch, i * 0.11, 0.5, 0.12)),
  closed: () => [392, 294].forEach((pitch, i) => tone(pitch, i * 0.16, 0.3, 0.1)),
  turn: () => [587, 880].forEach((pitch, i) => tone(pitch, i * 0.14, 0.4, 0.12)),
  timer: () => tone(1240, 0, 0.04, 0.07, "square"),
};

/** Play "chip", "card", "win", "closed" (no more bets), "turn" (the player is asked) or "timer", where the player has switched
    sound on. "timer" is one tick: a countdown plays it once a second in its last five seconds, while it also shows them in
    figures. */
function playSound(name) {
  if (!soundIsOn()) return;
  speaker ??= new AudioContext();
  speaker.resume();
  SOUNDS[name]();
}

const soundSwitch = document.getElementById("sound");
if (soundSwitch) {
  const show = () => soundSwitch.setAttribute("aria-pressed", String(soundIsOn()));
  soundSwitch.addEventListener("click", () => {
    localStorage.setItem(SOUND_KEY, soundIsOn() ? "off" : "on");
    show();
    playSound("chip");
  });
  document.addEventListener("sabot:preferences", show);
  show();
}
