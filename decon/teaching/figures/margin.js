// The widest street between two classes: examples to drag and to delete, and the price C of slack.

import { Plane, button, frame, number, plural, predict, slider } from "./kernel.js";
import { dot, norm, svm } from "./numbers.js";

const HARD = 1e6; // as a bound of the multipliers, never reached where a line separates
const CLEAR = 1e-3; // half-widths below it count as none

// The largest half-width of a street between the classes, which is not positive if there is none.
// Its edges touch one example of each class, the street lying across, or two examples of one class
function halfWidth(examples) {
  let best = -Infinity;
  for (const p of examples) {
    for (const q of examples) {
      const [dx, dy] = [p.x - q.x, p.y - q.y];
      const across = p.label === q.label ? [-dy, dx] : [dx, dy], size = norm(across);
      if (size === 0) continue;
      const [inner, outer] = [1, -1].map((label) => examples.filter((e) => e.label === label)
        .map((e) => (label * dot(across, [e.x, e.y])) / size));
      best = Math.max(best, (Math.min(...inner) + Math.min(...outer)) / 2);
    }
  }
  return best;
}

// The machine of these examples: w, b with f = w.x - b, multipliers; null where there is none
function train(examples, C) {
  if (new Set(examples.map((e) => e.label)).size < 2) return null;
  if (C === HARD && halfWidth(examples) < CLEAR) return null;
  const X = examples.map((e) => [e.x, e.y]), t = examples.map((e) => e.label);
  const { a, b } = svm(X.map((p) => X.map((q) => dot(p, q))), t, C);
  const w = [0, 1].map((k) => X.reduce((sum, x, i) => sum + a[i] * t[i] * x[k], 0));
  const f = (x, y) => dot(w, [x, y]) + b;
  return { w, f, margin: 1 / norm(w), multiplier: new Map(examples.map((e, i) => [e, a[i]])),
           slack: (e) => Math.max(0, 1 - e.label * f(e.x, e.y)) };
}

// By which angle, in degrees, and how far in the middle of the examples, two boundaries differ
function difference(one, other, examples) {
  const middle = ["x", "y"].map((k) => examples.reduce((sum, e) => sum + e[k], 0) / examples.length);
  const { w: [a, b] } = one, { w: [c, d] } = other;
  return { turn: Math.abs(Math.atan2(a * d - b * c, a * c + b * d)) * (180 / Math.PI),
           shift: Math.abs(one.f(...middle) * one.margin - other.f(...middle) * other.margin) };
}

const list = (words) => words.join(", ").replace(/, ([^,]+)$/, " and $1");

function render({ model, el }) {
  const { points, soft = false } = model.get("data");
  const box = frame(el, {
    title: soft ? "Drag the examples, slide C" : "Drag and delete the examples",
    task: "Drag an example, or reach it with Tab and move it with the arrow keys. The Delete key or " +
      "the button takes the chosen example out, and puts it back. Numbers are multipliers" +
      (soft ? "; circles mark those that are equal to C." : "."),
  });
  let C = soft ? 1 : HARD, examples, chosen, before, now;
  const kept = () => examples.filter((e) => !e.gone);
  const start = () => points.map(([x, y, label], name) => ({ x, y, label, name, gone: false }));
  examples = start();

  // The plane: both sides, the street, the slacks, the support vectors
  const around = (values) => [Math.min(...values) - 0.8, Math.max(...values) + 0.8];
  const plane = new Plane(box.stage, { x: around(points.map((p) => p[0])), y: around(points.map((p) => p[1])),
                                       height: 0.85, equal: true, label: "The plane of the examples" });
  const line = ({ w, f }, level, kind) => plane.line(w, level - f(0, 0), kind);
  const mark = (e) => {
    const a = now.multiplier.get(e), bounded = soft && a === C;
    if (!(a > 0)) return;
    if (now.slack(e) > 1e-6) {
      const step = (e.label * now.slack(e)) * now.margin ** 2;
      plane.path([[e.x, e.y], [e.x + step * now.w[0], e.y + step * now.w[1]]], "live-slack");
    }
    const most = soft ? C : Math.max(...now.multiplier.values());
    plane.ring(e.x, e.y, bounded, { width: 1.5 + (3 * a) / most });
    const others = examples.map((other) => [other.x, other.y]), kind = "live-text live-halo";
    if (!bounded) plane.text(e.x, e.y, number(a), { kind, ...plane.beside([e.x, e.y], others) });
  };
  plane.draw = () => {
    if (now) {
      plane.sides(now.f);
      if (before && examples.some((e) => e.gone)) line(before, 0, "live-before");
      line(now, 0, "live-boundary");
      for (const level of [-1, 1]) line(now, level, "live-margin");
      kept().forEach(mark);
    }
    for (const { e, handle } of grips) {
      handle.mark.setAttribute("class", `${e.label > 0 ? "live-positive" : "live-negative"}` +
        `${e.gone ? " live-gone" : ""}${e === chosen ? " live-chosen" : ""}`);
    }
  };

  // Examples to drag; Delete takes the one in focus out, and puts it back
  const role = (e) => {
    const a = now?.multiplier.get(e) ?? 0;
    return e.gone ? ", deleted" : a > 0 ? `, multiplier ${soft && a === C ? "C" : number(a)}` : "";
  };
  const grips = examples.map((_, i) => {
    const grip = { get e() { return examples[i]; } };
    grip.handle = plane.handle({
      name: () => `Example ${i}, ${grip.e.label > 0 ? "positive" : "negative"}${role(grip.e)}`,
      at: () => [grip.e.x, grip.e.y], shape: points[i][2] > 0 ? "circle" : "square",
      move: (x, y) => { Object.assign(grip.e, { x, y }); update(); },
    });
    grip.handle.node.addEventListener("focus", () => { chosen = grip.e; update(); });
    grip.handle.node.addEventListener("keydown", (event) => {
      if (event.key === "Delete" || event.key === "Backspace") { toggle(); event.preventDefault(); }
    });
    grip.handle.mark.setAttribute("transform", "scale(0.75)");
    return grip;
  });
  plane.crowd();
  const toggle = () => { chosen.gone = !chosen.gone; update(); };

  // The controls
  const remove = button("Delete", toggle);
  const price = slider({ label: "C", min: -2, max: 3, step: 0.05, value: 0, show: (v) => number(10 ** v, 2),
                         input: (v) => { C = 10 ** v; update(); } });
  const again = button("Start again", () => {
    [examples, chosen, C, price.value] = [start(), null, soft ? 1 : HARD, 0];
    update();
  });
  box.add(...(soft ? [price.node] : []), remove, again);

  // What the reader sees in words
  const street = () => {
    if (!now) return "No line separates these examples: there is no hard margin.";
    const inside = kept().filter((e) => now.slack(e) > 1e-6), wrong = inside.filter((e) => now.slack(e) >= 1);
    const support = kept().filter((e) => now.multiplier.get(e) > 0);
    if (!soft) {
      const each = support.map((e) => `${e.name} (${number(now.multiplier.get(e))})`);
      return `Margin ${number(now.margin)}. Support vectors, with their multipliers: ${list(each)}.`;
    }
    const full = support.filter((e) => now.multiplier.get(e) === C).length;
    return `C = ${number(C, 2)}: margin ${number(now.margin)}; ${plural(inside.length, "example")} inside ` +
      `the margin, ${wrong.length} of them on the wrong side. ${plural(full, "multiplier")} at C, ` +
      `${support.length - full} between 0 and C.`;
  };
  const change = () => {
    const gone = examples.filter((e) => e.gone);
    if (!gone.length || !now) return "";
    const without = `Without ${gone.length > 1 ? "examples" : "example"} ${list(gone.map((e) => e.name))}`;
    if (!before) return `${without} a line separates the others.`;
    const { turn, shift } = difference(before, now, examples);
    if (turn < 1e-3 && shift < 1e-5) return `${without} nothing moves.`;
    return `${without} the boundary has turned by ${number(turn, 2)}° and moved by ${number(shift, 2)} ` +
      `from where it was (dotted); the margin was ${number(before.margin)}.`;
  };
  const update = () => {
    [before, now] = [train(examples, C), train(kept(), C)];
    remove.disabled = !chosen;
    remove.textContent = chosen ? `${chosen.gone ? "Put back" : "Delete"} example ${chosen.name}`
      : "Delete the chosen example";
    plane.paint();
    const both = new Set(kept().map((e) => e.label)).size > 1;
    box.say(both ? street() : "Examples of one label alone need no boundary.", change());
  };
  update();

  // The question: what the first machine and one with a hundred times its C answer
  const held = [...now.multiplier.values()].filter((a) => a > 0).length;
  predict(box, soft ? {
    question: "C grows from 1 to 100: each unit of slack costs a hundred times as much. What happens " +
      "to the margin?",
    options: ["It becomes wider", "It becomes narrower", "It stays as it is"], answer: 1,
    because: "To avoid slack the machine gives up width: the margin falls from " +
      `${number(now.margin)} to ${number(train(examples, 100).margin)}. Slide C.`,
  } : {
    question: `You delete one of the ${points.length} examples and train again. For how many of the ` +
      `${points.length} does the boundary move?`,
    options: [`All ${points.length}`, `About ${points.length / 2}`, String(held)], answer: 2,
    because: `Only the ${held} examples on the dashed lines have a multiplier above zero. ` +
      "Delete one of them, and one of the others.",
  });
}

export default { render };
