/* The sounds of a table and the voice of its croupier, made by the browser. No file is loaded, they are off by default,
   and the game can be followed without them. */

import { preference, setPreference } from "../common/preferences.js";

// An AudioContext, created at the first sound: browsers allow one only after a click.
let speaker = null;

const isOn = () => preference("sound") === "on";

/** Play one fading tone: *pitch* in Hz, *start* and *length* in seconds from now. */
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

/** Play a short noise around *pitch* Hz: paper on cloth. */
function noise(pitch, length, loudness) {
  const samples = Math.ceil(speaker.sampleRate * length);
  const buffer = new AudioBuffer({ length: samples, sampleRate: speaker.sampleRate });
  const wave = buffer.getChannelData(0);
  for (let i = 0; i < samples; i++) wave[i] = (Math.random() * 2 - 1) * (1 - i / samples) ** 2;
  const source = new AudioBufferSourceNode(speaker, { buffer });
  const filter = new BiquadFilterNode(speaker, { type: "bandpass", frequency: pitch, Q: 0.8 });
  source
    .connect(filter)
    .connect(new GainNode(speaker, { gain: loudness }))
    .connect(speaker.destination);
  source.start();
}

const SOUNDS = {
  chip: () => {
    tone(2100, 0, 0.05, 0.12, "triangle");
    tone(3150, 0.03, 0.05, 0.08, "triangle");
  },
  card: () => noise(1800, 0.12, 0.5),
  win: () => [523, 659, 784].forEach((pitch, i) => tone(pitch, i * 0.11, 0.5, 0.12)),
  closed: () => [392, 294].forEach((pitch, i) => tone(pitch, i * 0.16, 0.3, 0.1)),
  turn: () => [587, 880].forEach((pitch, i) => tone(pitch, i * 0.14, 0.4, 0.12)),
  timer: () => tone(1240, 0, 0.04, 0.07, "square"),
};

/** Play "chip", "card", "win", "closed" (no more bets), "turn" (the player's turn) or "timer"
    (one tick of the last five seconds of a countdown), if the player has switched sound on. */
export function playSound(name) {
  if (!isOn()) return;
  speaker ??= new AudioContext();
  speaker.resume();
  SOUNDS[name]();
}

/** Speak what the croupier says in the language of the page, if sound is on and the device has a voice for it. Voices
    of a network are not used: what is said at the table stays here. */
export function speak(text) {
  if (!isOn() || !window.speechSynthesis) return;
  const { lang } = document.documentElement;
  const voice = speechSynthesis.getVoices().find((each) => each.localService && each.lang.startsWith(lang));
  if (!voice) return;
  speechSynthesis.cancel();
  speechSynthesis.speak(Object.assign(new SpeechSynthesisUtterance(text), { voice, lang: voice.lang }));
}

const button = document.getElementById("sound");
if (button) {
  const show = () => button.setAttribute("aria-pressed", String(isOn()));
  button.addEventListener("click", () => {
    setPreference("sound", isOn() ? "off" : "on");
    playSound("chip");
  });
  document.addEventListener("sabot:preferences", show);
  show();
}
