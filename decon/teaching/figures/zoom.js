// Zoom out: four machines of four kernels, and the curve of which degree fits at which scale.

import { Plane, choice, clamp, frame, html, number, power, predict, slider } from "./kernel.js";
import { dot, generator, norm, singular } from "./numbers.js";

// The same support vectors and weights for all four
const Y = [[-2.1, 1.2], [0.6, 0.7], [1.2, 0.9], [-0.8, 2.8]], W = [0.5, 1, 1.8, -0.5];
const distance = (x, y) => norm([x[0] - y[0], x[1] - y[1]]);
const MODELS = [
  { name: "cubic", b: 5.8, kernel: (x, y) => (dot(x, y) + 1) ** 3 },
  { name: "Gaussian", b: 0.7, kernel: (x, y) => Math.exp(-(distance(x, y) ** 2) / 2) },
  { name: "tanh", b: 0.5, kernel: (x, y) => Math.tanh(dot(x, y) + 0.3) },
  { name: "quadratic", b: 3, kernel: (x, y) => (dot(x, y) + 1) ** 2 },
];
const KERNELS = ["quadratic", "cubic", "tanh", "Gaussian"];
const CURVES = ["lines", "conics", "cubics"];
const SCALE = Math.SQRT2; // R0, for inputs of two standard normal features
const WIDTH = 1e-12, POINTS = 20, FITS = 0.5; // of brackets, in radii; largest misfit that fits

const value = (model, x) => W.reduce((sum, w, i) => sum + w * model.kernel(x, Y[i]), -model.b);

// The bracket between two points of unlike labels
function bisect(f, P, N, width) {
  const middle = () => [(P[0] + N[0]) / 2, (P[1] + N[1]) / 2];
  while (distance(P, N) > width) {
    if (f(middle()) > 0) P = middle(); else N = middle();
  }
  return middle();
}

// Forty labels in the disc about `centre`, and twenty of their PN-pairs: coordinates in radii
function curvePoints(model, centre, radius) {
  const { uniform, normal } = generator(1);
  const f = (z) => value(model, [centre[0] + radius * z[0], centre[1] + radius * z[1]]);
  const disc = Array.from({ length: 2 * POINTS }, () => {
    const z = [normal(), normal()], size = Math.sqrt(uniform()) / norm(z);
    return [z[0] * size, z[1] * size];
  });
  const [positive, negative] = [disc.filter((z) => f(z) > 0), disc.filter((z) => f(z) <= 0)];
  const pairs = positive.flatMap((P) => negative.map((N) => [P, N]));
  const chosen = [];
  while (pairs.length && chosen.length < POINTS) {
    chosen.push(...pairs.splice(Math.floor(uniform() * pairs.length), 1));
  }
  return chosen.map(([P, N]) => bisect(f, P, N, WIDTH));
}

// The residual of the best curve of a degree, in units of what the brackets' width explains
function misfit(points, degree) {
  const size = Math.sqrt(points.reduce((sum, z) => sum + dot(z, z), 0) / (2 * points.length));
  const rows = points.map((z) => {
    const h = [z[0] / size, z[1] / size, 1], row = [], unit = norm(h);
    for (let i = 0; i <= degree; i += 1) {
      for (let j = 0; i + j <= degree; j += 1) {
        const times = factorial(degree) / (factorial(i) * factorial(j) * factorial(degree - i - j));
        row.push(Math.sqrt(times) * h[0] ** i * h[1] ** j / unit ** degree);
      }
    }
    return row;
  });
  const excess = points.length + 1 - rows[0].length;
  return singular(rows).values.at(-1) * size / Math.sqrt(excess) / WIDTH;
}
const factorial = (n) => (n < 2 ? 1 : n * factorial(n - 1));

// A boundary point near the data, the middle of every window
function middle(model) {
  const { normal } = generator(7);
  const draw = (sign) => {
    for (;;) {
      const x = [normal(), normal()];
      if (sign * value(model, x) > 0) return x;
    }
  };
  return bisect((x) => value(model, x), draw(1), draw(-1), 1e-12);
}

function render({ el }) {
  const box = frame(el, {
    title: "Zoom out",
    task: "Four machines with the same support vectors and weights. One kernel is quadratic, one cubic, " +
      "one tanh, one Gaussian: which is which? Below each window are the misfits of the best line, conic " +
      "and cubic through 20 bracketed points. A curve fits if its bar ends before the dashed mark.",
  });
  box.stage.classList.add("live-quartet");
  let size = 0;
  const cards = MODELS.map((model, i) => makeCard(box.stage, model, `Model ${i + 1}`, () => update()));

  // Everything follows the radius of the window
  const zoom = slider({
    label: "Window radius", min: -1, max: 5, step: 0.05, value: size, input: (v) => { size = v; update(); },
    show: (v) => `${Number((10 ** v).toPrecision(2)).toLocaleString("en")} R₀`,
  });
  box.add(zoom.node);
  const update = () => {
    for (const card of cards) card.look(SCALE * 10 ** size);
    const found = cards.filter((card) => card.found).length;
    box.say(...cards.map((card) => `${card.name}: ${card.verdict}.`),
            found === 4 ? "All four are found. One degree fits at every radius only for polynomial machines."
              : found ? `You have found ${found} of 4.` : "");
  };
  predict(box, {
    question: "In a window of the size of the data, no cubic fits the boundary of the tanh machine. In " +
      "which windows does a cubic fit it?",
    options: ["In none", "In small ones only", "In large ones only", "In small and in large ones"], answer: 3,
    because: "From close by every smooth curve is nearly a cubic, and from far away this boundary is " +
      "nearly a line.",
  });
  update();
}

// A card: what the reader guesses, the window, the misfits of the three degrees
function makeCard(stage, model, name, changed) {
  const centre = middle(model), reply = html("p", { class: "live-verdict", role: "status" });
  const guess = choice({
    label: name, value: "guess", options: ["guess", ...KERNELS].map((kernel) => [kernel, kernel]),
    change: (kernel) => {
      card.found = kernel === model.name;
      reply.textContent = card.found ? `Yes: ${kernel}.` : kernel === "guess" ? "" : `No, not ${kernel}.`;
      changed();
    },
  });
  const parent = html("div", { class: "live-card" }, guess.node);
  stage.append(parent);
  const card = { name, found: false, misfits: [], verdict: "" };
  let points = [], radius = SCALE;

  // The window: labels, boundary, bracketed points
  const window = new Plane(parent, { x: [-1, 1], y: [-1, 1], height: 1, label: `${name}, the window` });
  window.draw = () => {
    const f = (u, v) => value(model, [centre[0] + radius * u, centre[1] + radius * v]);
    window.sides(f);
    window.contour(f, 0, "live-boundary", 4, 5);
    for (const z of points) window.dot(...z, "live-found", 2.5);
  };

  // The misfits, with the mark of the threshold
  const bars = new Plane(parent, { x: [0, 1], y: [0, 1], height: 0, least: 66, label: `${name}, misfits` });
  bars.draw = () => {
    const [left, right] = [50, bars.width - 34]; // from 10⁻⁶ to 10¹²
    const at = (log) => left + (right - left) * clamp((log + 6) / 18, [0.01, 1]);
    CURVES.forEach((curve, i) => {
      const y = 20 * i + 4, log = Math.log10(card.misfits[i]);
      const text = (x, words) => bars.add("text", { x, y: y + 12, class: "live-text" }, words);
      text(4, curve);
      if (!card.misfits.length) return;
      bars.add("rect", { x: left, y: y + 2, width: at(log) - left, height: 11,
                         class: `live-bar${card.misfits[i] < FITS ? " live-fits" : ""}` });
      text(right + 4, power(Math.round(log)));
    });
    bars.add("path", { d: `M${at(Math.log10(FITS)).toFixed(1)} 0v66`, class: "live-margin" });
  };
  parent.append(reply);

  // The vote: the lowest degree that fits
  card.look = (wanted) => {
    radius = wanted;
    points = curvePoints(model, centre, radius);
    card.misfits = points.length ? [1, 2, 3].map((degree) => misfit(points, degree)) : [];
    const degree = card.misfits.findIndex((size) => size < FITS) + 1;
    const line = card.misfits[0] * WIDTH; // the residual of the best line, in radii
    card.verdict = !points.length ? "no boundary, all 40 labels are alike"
      : (degree ? `degree ${degree} fits` : "no degree up to 3 fits") +
        (line < 1e-3 ? `; the best line misses the points by ${number(line)} of the radius` : "");
    window.paint();
    bars.paint();
  };
  return card;
}

export default { render };
