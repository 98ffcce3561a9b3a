// Reading the vectors of a cubic: turn a direction until two Hessians send it the same way.

import { Plane, button, choice, clamp, frame, number, predict, slider } from "./kernel.js";
import { dot, norm, unit } from "./numbers.js";

const OWN = [[1.6, 0.5], [-0.4, 1.4]], W = [1, 1.5];
const SIZE = 2.3, RADIUS = 2; // of the picture, of the circle on which the direction is turned
const NEAR = 3, PARALLEL = 0.5; // degrees

const DEGREE = 180 / Math.PI;
const direction = (angle) => [Math.cos(angle / DEGREE), Math.sin(angle / DEGREE)];
const angle = ([x, y]) => ((Math.atan2(y, x) * DEGREE) % 180 + 180) % 180;
const between = (u, v) => Math.abs(((angle(u) - angle(v) + 270) % 180) - 90);

// The Hessian at x times v: 6 sum w_i (1 + x.y_i) (y_i.v) y_i for a cubic machine, and the same
// without x for a quadratic one, up to its constant
const image = (degree, x, v) => [0, 1].map((k) => OWN.reduce((sum, y, i) =>
  sum + W[i] * (1 + dot(x, y)) ** (degree - 2) * dot(y, v) * y[k], 0));

// A vector from its direction: along it the second Hessian is 1 + a.y times the first
const read = (first, second, a) => {
  const y = unit(second), ratio = dot(second, first) / dot(first, first);
  return y.map((c) => (c * (ratio - 1)) / dot(a, y));
};

// Where both images are parallel: det(H0 v, H1 v) = 0 is a quadratic equation for v
function directions(degree, a) {
  const d = (v) => {
    const [[p, q], [r, s]] = [image(degree, [0, 0], v), image(degree, a, v)];
    return p * s - q * r;
  };
  const [A, C] = [d([1, 0]), d([0, 1])], B = d([1, 1]) - A - C;
  const root = Math.sqrt(B * B - 4 * A * C);
  return [1, -1].map((s) => (Math.abs(A) > 1e-9 ? unit([(-B + s * root) / (2 * A), 1]) : [1, 0]));
}

function render({ el }) {
  const box = frame(el, {
    title: "Two Hessians show the vectors",
    task: "Turn the direction v. The green arrow is where the Hessian at 0 sends it, the orange arrow where " +
      "the Hessian at a sends it: how the gradient of Ψ changes along v, at 0 and at a. Look for " +
      "directions whose arrows are parallel.",
  });
  let degree = 3, a = [0.9, -0.2], turned = 60, seen = [];

  // The plane: the direction on its circle, the two arrows, what has been read
  const plane = new Plane(box.stage, { x: [-SIZE, SIZE], y: [-SIZE, SIZE], height: 0.8, equal: true,
                                       label: "The plane of the support vectors" });
  const arrows = () => [[0, 0], a].map((x) => image(degree, x, direction(turned)));
  plane.draw = () => {
    const [first, second] = arrows(), v = direction(turned);
    plane.add("circle", { cx: plane.px(0), cy: plane.py(0), r: plane.px(RADIUS) - plane.px(0),
                          class: "live-circle" });
    plane.path([v, v.map((c) => -c)].map((p) => p.map((c) => RADIUS * c)), "live-line live-faint");
    plane.arrow([0, 0], unit(first).map((c) => 1.25 * c), "live-arrow");
    plane.arrow([0, 0], unit(second).map((c) => 0.95 * c), "live-arrow live-second");
    if (degree === 3) for (const y of seen) plane.ring(...y, false, { kind: "live-mark", size: 8 });
    plane.dot(0, 0, "live-dot", 3);
    plane.text(0, 0, "0", { dx: -10, dy: 16 });
    plane.text(...a, "a", { dx: 14, dy: 16 });
  };
  plane.handle({ name: () => `Direction v, ${number(turned)}°`, at: () => direction(turned).map((c) => RADIUS * c),
                 move: (x, y) => turn(angle([x, y])) });
  plane.handle({ name: "Point a", at: () => a, shape: "square", move: (x, y) => {
    const reach = OWN.map((own) => dot([x, y], own));
    if (reach.some((r) => Math.abs(r) < 0.05 || Math.abs(1 + r) < 0.05)) return; // not to be read there
    [a, seen] = [[x, y], []];
    update();
  } });

  // The controls
  const dial = slider({ label: "Direction", min: 0, max: 180, step: 0.1, value: turned,
                        show: (v) => `${number(v, 4)}°`, input: (v) => turn(v) });
  const kernel = choice({ label: "Kernel", value: "3", options: [["3", "cubic"], ["2", "quadratic"]],
                          change: (k) => { [degree, seen] = [Number(k), []]; update(); } });
  const solveIt = button("Solve for both", () => {
    seen = directions(degree, a).map((v) => read(image(degree, [0, 0], v), image(degree, a, v), a));
    update();
  });
  box.add(dial.node, kernel.node, solveIt);
  const turn = (degrees) => {
    turned = clamp(degrees, [0, 180]);
    dial.value = turned;
    const [first, second] = arrows();
    if (degree === 3 && between(first, second) < PARALLEL) {
      const y = read(first, second, a);
      seen = [...seen.filter((other) => between(other, y) > 20), y];
    }
    update();
  };

  // What the reader sees in words
  const vector = (y) => `(${y.map((v) => number(v)).join(", ")})`;
  const update = () => {
    solveIt.disabled = degree === 2;
    plane.paint();
    const [first, second] = arrows(), apart = between(first, second);
    const where = `The Hessian at 0 sends v to ${number(angle(first))}°, the Hessian at a to ` +
      `${number(angle(second))}°`;
    const ratio = dot(second, first) / dot(first, first);
    if (degree === 2) {
      box.say(`${where}: a quadratic machine has the same Hessian everywhere, so all arrows are parallel ` +
              "and no direction is distinguished.");
    } else {
      box.say(`${where}: ${number(apart, 2)}° apart.` +
        (apart < PARALLEL ? ` Parallel: the second is ${number(ratio)} times the first, and 1 + a·y = ` +
          `${number(ratio)} gives y = ${vector(read(first, second, a))}.`
          : apart < NEAR ? " Nearly parallel." : ""),
        seen.length ? `Read so far: ${seen.map(vector).join(" and ")}.` +
          (seen.length === 2 ? " The machine's vectors are " + OWN.map(vector).join(" and ") + "." : "") : "");
    }
  };
  update();

  predict(box, {
    question: "You turn v through 180°. For how many directions are the two arrows parallel?",
    options: ["None", "One", "Two", "All"], answer: 2,
    because: "Where v is perpendicular to one of the two vectors, only the other is left in both sums, and both " +
      "arrows point along it. Then try the quadratic machine.",
  });
}

export default { render };
