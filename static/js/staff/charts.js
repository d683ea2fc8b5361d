/* Values of charts on hover and by the arrow keys. The texts are in the chart: this module only
   shows the one under the pointer, or the one that the keys have reached. */

const PLOT = ".series__plot";
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

const hitsOf = (plot) => [...plot.querySelectorAll(".series__hit")];

function read(plot, hit) {
  const cursor = plot.querySelector(".series__cursor");
  for (const name of ["x1", "x2"]) {
    cursor.setAttribute(name, hit?.dataset.middle ?? 0);
  }
  plot.classList.toggle("series__plot--read", Boolean(hit));
  plot.querySelector(".series__reading").textContent = hit?.dataset.text ?? "";
  plot.dataset.at = hit ? hitsOf(plot).indexOf(hit) : "";
}

function move(plot, key) {
  const hits = hitsOf(plot);
  const at = plot.dataset.at ? Number(plot.dataset.at) : -1;
  const places = { Home: 0, End: hits.length - 1 };
  const wanted = places[key] ?? (at < 0 ? hits.length - 1 : at + STEPS[key]);
  read(plot, hits[Math.min(Math.max(wanted, 0), hits.length - 1)]);
}

document.addEventListener("pointerover", (event) => {
  const plot = event.target.closest?.(PLOT);
  const hit = event.target.closest?.(".series__hit");
  if (plot && hit) {
    read(plot, hit);
  }
});

document.addEventListener("pointerout", (event) => {
  const plot = event.target.closest?.(PLOT);
  if (plot && !plot.contains(event.relatedTarget) && plot !== document.activeElement) {
    read(plot, null);
  }
});

document.addEventListener("focusout", (event) => {
  const plot = event.target.closest?.(PLOT);
  if (plot) {
    read(plot, null);
  }
});

document.addEventListener("keydown", (event) => {
  const plot = event.target.closest?.(PLOT);
  if (plot && (event.key in STEPS || event.key === "Home" || event.key === "End")) {
    event.preventDefault();
    move(plot, event.key);
  }
});
