// Bracket width and step: the error of a normal that is measured from the slope of the boundary.

import { Plane, clamp, frame, number, plural, power, predict, slider } from "./kernel.js";
import { norm } from "./numbers.js";

// The curve of the chapter's example, moved to where doubles are 1.1e-16 to 4.4e-16 apart: with
// (1, 2) in the place of (0, 0), 3 x1 + 4 x2 + x1^2 = 0 becomes
const value = (x1, x2) => x1 * x1 + x1 + 4 * x2 - 10;
const X1 = 0.9, SLOPE = -(2 * X1 + 1) / 4, UP = 1 / norm([SLOPE, 1]); // UP is n.v
const X2 = halve(X1, 3, 1, 0).middle, TRUE = [-SLOPE * UP, UP];

// The bound A step + B width / step: curvature adds step / 4 to the slope, the bracket at most
// width / (2 step), and an error of the slope turns the normal (n.v)^2 times as far
const A = UP ** 2 / 4, B = UP / 2;
const STEPS = [-15, 0], WIDTHS = [-16, -2]; // powers of ten

// Bisect the height above x1, down to a width or to neighbouring doubles
function halve(x1, top, bottom, width) {
  for (let queries = 0; ; queries += 1) {
    const middle = (top + bottom) / 2;
    if (top - bottom <= width || middle >= top || middle <= bottom) return { top, bottom, middle, queries };
    if (value(x1, middle) > 0) top = middle; else bottom = middle;
  }
}

// The chapter's estimator: from two steps above to two steps below the foot
function measure(step, width) {
  const { top, bottom, middle, queries } = halve(X1 + step, X2 + 2 * step, X2 - 2 * step, width);
  const slope = (middle - X2) / step, length = norm([slope, 1]), normal = [-slope / length, 1 / length];
  return { normal, slope, queries, ends: [(bottom - X2) / step, (top - X2) / step], width: top - bottom,
           error: norm([normal[0] - TRUE[0], normal[1] - TRUE[1]]) };
}

const log = (error) => Math.log10(Math.max(error, 1e-16));

function render({ el }) {
  const box = frame(el, {
    title: "Bracket width and step",
    task: "A normal is measured at a boundary point: step aside by δ, bracket the height of the " +
      "boundary to the width ε. Left: what the labels show at the scale of the step. Right: the error " +
      "for every step. Move the point, or the sliders.",
  });
  box.stage.classList.add("live-pair");
  let step = -1, width = -12, measured = measure(10 ** step, 10 ** width), curve = [];

  // Left, in units of the step: labels, the bracket, the true and the measured normal
  const near = new Plane(box.stage, { x: [-0.95, 1.7], y: [-1.55, 1.1], height: 1, equal: true,
                                      label: "The boundary at the scale of the step" });
  near.draw = () => {
    const delta = 10 ** step, f = (u, v) => value(X1 + delta * u, X2 + delta * v);
    near.sides(f);
    near.contour(f);
    const { normal, slope, ends } = measured;
    near.path([[0, 0], [1, 0]], "live-line live-faint");
    near.text(0.5, 0, "step δ", { dy: -6 });
    near.path([[0, 0], [1, slope]], "live-recovered");
    near.path(ends.map((v) => [1, clamp(v, near.seen.y)]), "live-line live-strong");
    near.dot(1, slope, "live-found");
    near.dot(0, 0);
    near.arrow([0, 0], TRUE);
    near.arrow([0, 0], normal, "live-arrow live-measured");
    const apart = measured.error > 0.05, right = { anchor: "start", dx: 8, dy: 8 };
    const [one, other] = normal[0] > TRUE[0] ? ["true normal", "measured"] : ["measured", "true normal"];
    near.text(...TRUE, apart ? other : "both normals", right);
    if (apart) near.text(...TRUE, one, { anchor: "end", dx: -10, dy: -6 });
    near.text(1, slope, "bracket", right);
  };

  // Right: the error of every step, the two parts of the bound, and the reader's point
  const vee = new Plane(box.stage, { x: [STEPS[0], STEPS[1] + 0.5], y: [-9.5, 1.7], height: 1,
                                     label: "The error of the normal against the step" });
  vee.draw = () => {
    vee.ticks({ xshow: power, yshow: power, xlabel: "step δ", ylabel: "error of the normal (rad)" });
    const [left, right] = vee.seen.x;
    vee.path([left, right].map((x) => [x, Math.log10(A) + x]), "live-line live-faint");
    vee.path([left, right].map((x) => [x, Math.log10(B) + width - x]), "live-line live-faint");
    vee.path(curve, "live-vee");
    const note = (x, y, words, dy) => vee.text(x, y, words,
      { kind: "live-text live-halo", anchor: "start", dx: 9, dy });
    const from = clamp(Math.log10(B) + width + 1.3, [-12.5, -2.5]);
    note(from, Math.log10(B) + width - from, "Bε/δ", -2);
    note(-2, Math.log10(A) - 2, "Aδ", 14);
    note(Math.log10((B / A) * 10 ** width) / 2, Math.log10(A * B * 10 ** width) / 2, "δ*", 5);
  };
  vee.handle({
    name: "Your step, powers of ten", at: () => [step, log(measured.error)],
    move: (x) => { stepper.value = clamp(x, STEPS); change(stepper.value, width); },
  });

  const show = (x) => number(Number((10 ** x).toPrecision(2)));
  const stepper = slider({ label: "Step δ", min: STEPS[0], max: STEPS[1], step: 0.05, value: step, show,
                           input: (x) => change(x, width) });
  const widener = slider({ label: "Width ε", min: WIDTHS[0], max: WIDTHS[1], step: 0.1, value: width, show,
                           input: (x) => change(step, x) });
  box.add(stepper.node, widener.node);

  // Measure, for the reader's step and for all others
  const change = (x, w) => {
    [step, width] = [x, w];
    measured = measure(10 ** step, 10 ** width);
    curve = Array.from({ length: 301 }, (_, i) => STEPS[0] + i / 20)
      .map((s) => [s, log(measure(10 ** s, 10 ** width).error)]);
    near.paint();
    vee.paint();
    const [bend, bracket] = [A * 10 ** step, (B * 10 ** width) / 10 ** step];
    box.say(`The measured normal is off by ${number(measured.error)} rad, after ` +
            `${plural(measured.queries, "label")}. The bound: ${number(bend)} from curvature and ` +
            `${number(bracket)} from the bracket.`,
            `The best step is δ* = √(Bε/A) = ${number(Math.sqrt((B * 10 ** width) / A))}, and the bound ` +
            `there is ${number(2 * Math.sqrt(A * B * 10 ** width))}.`,
            measured.width > 10 ** width ? `Double precision stops the bracket at the width ` +
              `${number(measured.width)}: no number lies between its ends.` : "");
  };
  predict(box, {
    question: "The brackets are 10⁻¹² wide. Which step δ gives the most accurate normal?",
    options: ["10⁻³", "10⁻⁶", "10⁻¹²"], answer: 1,
    because: "The error from curvature grows like δ, the error from the bracket like ε/δ. They balance " +
      "near δ = √ε.",
  });
  change(step, width);
}

export default { render };
