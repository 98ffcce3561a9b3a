// Two sets of vectors, one boundary: a quadratic machine has a second vector for every first one on a
// line, a cubic machine has none but its own.

import { Plane, button, choice, clamp, frame, number, predict } from "./kernel.js";
import { add, dot, norm, solve } from "./numbers.js";

// The machines of the page's first figure: the same vectors and weights, another threshold
const OWN = [[1.6, 0.5], [-0.4, 1.4]], W = [1, 1.5], THRESHOLD = { 2: 3, 3: 1 };
const GRID = 100, SIZE = 2.6;
const PLACES = Array.from({ length: GRID * GRID }, (_, i) =>
  [i % GRID, Math.floor(i / GRID)].map((k) => SIZE * ((2 * k + 1) / GRID - 1)));

const value = ({ degree, Y, w, b }, x) =>
  Y.reduce((sum, y, i) => sum + w[i] * (dot(x, y) + 1) ** degree, -b);

// On the line y = (1 - t) y1 + t y2 through the own vectors: the partner of t, and the weight at t
const partner = (t) => (1 - t) / W[0] / ((1 - t) / W[0] - t / W[1]);
const weight = (t) => 1 / ((1 - t) ** 2 / W[0] + t ** 2 / W[1]);
const place = (t) => add(OWN[0].map((v) => (1 - t) * v), OWN[1], t);
const along = (x) => {
  const d = add(OWN[1], OWN[0], -1);
  return dot(add(x, OWN[0], -1), d) / dot(d, d);
};

// The weights and the threshold that bring two cubes nearest to the cubic, and how near: the forms
// (u.(x, 1))^3 have the inner products (u.v)^3. `miss` is the sine of the angle between both cubics
const lift = (Y) => [...Y.map((y) => [...y, 1]), [0, 0, 1]];
const products = (A, B) => A.map((u) => B.map((v) => dot(u, v) ** 3));
function nearest(Y, b) {
  const mine = lift(Y), own = lift(OWN), truth = [...W, -b];
  const against = products(mine, own).map((row) => dot(row, truth));
  const gram = products(mine, mine).map((row, i) => row.map((v, j) => v * (i === j ? 1 + 1e-12 : 1)));
  const best = solve(gram, against), size = dot(truth, products(own, own).map((row) => dot(row, truth)));
  return { w: best.slice(0, 2), b: -best[2], miss: Math.sqrt(Math.max(0, 1 - dot(best, against) / size)) };
}

function render({ el }) {
  const box = frame(el, {
    title: "Two sets of vectors, one boundary",
    task: "Drag a diamond, or move it with the arrow keys. For the quadratic machine the other one " +
      "follows, with new weights. For the cubic one you place both, and get the weights and the threshold " +
      "that come nearest to the cubic. The broad line is the target's boundary, the thin one yours.",
  });
  let degree = 2, Y, w, b, miss;
  const target = () => ({ degree, Y: OWN, w: W, b: THRESHOLD[degree] });

  // The first vector of the quadratic machine decides the second
  const slide = (s, which = 0) => {
    const pair = which ? [partner(s), s] : [s, partner(s)];
    [Y, w, b] = [pair.map(place), pair.map(weight), THRESHOLD[2]];
  };
  slide(0.3);

  // The plane
  const plane = new Plane(box.stage, { x: [-SIZE, SIZE], y: [-SIZE, SIZE], height: 0.8, equal: true,
                                       label: "The plane of the support vectors" });
  plane.draw = () => {
    plane.sides((...x) => value(target(), x));
    if (degree === 2) plane.path([place(-9), place(9)], "live-margin");
    plane.contour((...x) => value(target(), x), 0, "live-truth live-broad", 5);
    plane.contour((...x) => value({ degree, Y, w, b }, x), 0, "live-recovered live-thin", 5);
    for (const y of OWN) plane.ring(...y, true, { kind: "live-faint live-line", size: 13, width: 1.5 });
    plane.ticks({ xlabel: "z₁", ylabel: "z₂" });
  };
  const move = (i) => (x, y) => {
    if (degree === 2) slide(clamp(along([x, y]), [-3, 4]), i);
    else Y[i] = [x, y];
    update();
  };
  const grips = [0, 1].map((i) => plane.handle({
    name: () => `${i ? "Second" : "First"} vector, weight ${number(w[i])}`, at: () => Y[i], move: move(i),
    kind: "live-vector", shape: "square",
  }));
  for (const grip of grips) grip.mark.setAttribute("transform", "rotate(45)");

  // The controls
  const kernel = choice({ label: "Kernel", value: "2", options: [["2", "quadratic"], ["3", "cubic"]],
                          change: (k) => { degree = Number(k); start(); } });
  const home = button("Back to the own vectors", () => start(true));
  box.add(kernel.node, home);

  // What the reader sees in words: both machines label the same points
  const update = () => {
    if (degree === 3) ({ w, b, miss } = nearest(Y, THRESHOLD[3]));
    plane.paint();
    const mine = { degree, Y, w, b };
    const wrong = PLACES.filter((x) => (value(mine, x) > 0) !== (value(target(), x) > 0)).length;
    const shown = Y.map((y, i) => `(${y.map((v) => number(v)).join(", ")}) with weight ${number(w[i])}`);
    const far = Math.max(...Y.map((y) => Math.min(...OWN.map((own) => norm(add(y, own, -1))))));
    box.say(`Vectors ${shown.join(" and ")}.`,
            `${wrong} of ${PLACES.length.toLocaleString("en")} labels differ` +
              (degree === 3 ? `; your cubic misses the target's by ${number(100 * miss, 2)}%.` : ".") +
              (far < 1e-9 ? " These are the target's own vectors."
                : degree === 2 ? " These are not the target's own vectors." : ""));
  };
  const start = (own = false) => {
    if (degree === 2) slide(own ? 0 : 0.3);
    else Y = own ? OWN.map((y) => [...y]) : [[1.1, 0.9], [0.2, 1.5]];
    update();
  };
  start();

  predict(box, {
    question: "Keep the boundary of the quadratic machine and move its first support vector. For how many " +
      "places of the first is there a second vector, with suitable weights, so that no label changes?",
    options: ["For none but its own two", "For a few more", "For all on a line", "For all in the plane"],
    answer: 2,
    because: "Every vector on the dashed line has its partner there. Then choose the cubic machine, and look " +
      "for a second pair.",
  });
}

export default { render };
