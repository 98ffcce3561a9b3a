// One example is learned: its multiplier grows from 0, the others move along, from event to event.

import { Plane, film, frame, number, plural, predict, slider } from "./kernel.js";
import { dot } from "./numbers.js";

const FRAMES = 20; // of each straight piece of the path
const HOLD = 8; // frames for which the film stands still at an event

const EVENTS = {
  SR: "has come down to a = 0 and joins the reserve set",
  SE: "has risen to a = C and joins the error set",
  RS: "has come to its margin from outside and joins the margin set",
  ES: "has come to its margin from inside and joins the margin set",
};

function render({ model, el }) {
  const { points, C, multipliers, thresholds, afresh } = model.get("data");
  const X = points.map(([x, y]) => [x, y]), t = points.map((p) => p[2]);
  const last = multipliers.length - 1, fresh = points.length - 1;
  const box = frame(el, {
    title: "Learning as a film",
    task: `Example ${fresh} is new. Play its learning, or move the slider; backwards it is unlearned. ` +
      "Diamonds mark the margin set (0 < a < C), circles the error set (a = C); the others are the " +
      "reserve set (a = 0).",
  });
  let shot = 0, forwards = true, held = 0;

  // The machine at a place of the path: straight lines between the events
  const between = (values, s) => {
    const k = Math.min(Math.floor(s), last - 1), part = s - k;
    const mix = (from, to) => from + part * (to - from);
    return Array.isArray(values[k]) ? values[k].map((v, i) => mix(v, values[k + 1][i]))
      : mix(values[k], values[k + 1]);
  };
  const machine = (s) => {
    const a = between(multipliers, s), b = between(thresholds, s);
    const w = [0, 1].map((k) => X.reduce((sum, x, i) => sum + a[i] * t[i] * x[k], 0));
    return { a, w, b, f: (x, y) => dot(w, [x, y]) - b };
  };
  const set = (a) => (a <= 0 ? "R" : a >= C ? "E" : "S");

  // By how much an example violates its condition, computed afresh
  const violation = ({ a, f }, i) => {
    const g = t[i] * f(...X[i]) - 1;
    const kind = i === fresh && a[i] < C ? "R" : set(a[i]); // on its way, the new one may fall short
    return { R: Math.max(0, -g), E: Math.max(0, g), S: Math.abs(g) }[kind];
  };

  // What happens at event k: the example that changes its set there, on the way forwards or back
  const event = (k) => {
    const [before, after] = [k - 0.5, k + 0.5].map((s) => machine(s).a.map(set));
    const i = before.findIndex((name, j) => name !== after[j] && j !== fresh);
    return { i, text: EVENTS[forwards ? before[i] + after[i] : after[i] + before[i]] };
  };
  const here = () => (shot % FRAMES === 0 && shot > 0 && shot < last * FRAMES ? event(shot / FRAMES) : null);

  // The plane: the boundary with its margins, the examples in their sets
  box.stage.classList.add("live-pair");
  const around = (values) => [Math.min(...values) - 0.6, Math.max(...values) + 0.6];
  const plane = new Plane(box.stage, { x: around(X.map((p) => p[0])), y: around(X.map((p) => p[1])),
                                       height: 0.95, equal: true, label: "The plane of the examples" });
  plane.draw = () => {
    const { a, w, b, f } = machine(shot / FRAMES), now = here();
    plane.sides(f);
    plane.line(w, b);
    for (const level of [-1, 1]) plane.line(w, b + level, "live-margin");
    X.forEach(([x, y], i) => {
      if (i === now?.i) plane.dot(x, y, "live-happens", 19);
      if (a[i] > 0) plane.ring(x, y, a[i] >= C, { kind: a[i] >= C ? "live-bounded" : "live-support" });
      plane.label(x, y, t[i] > 0, i === fresh ? 7 : 5);
      plane.text(x, y, i === fresh ? `${i} (new)` : i,
                 { kind: "live-text live-halo", ...plane.beside([x, y], X, i === fresh ? 50 : 12) });
    });
  };

  // The multipliers as bars, with a line where each was before
  const bars = new Plane(box.stage, { x: [-1.6, fresh + 0.7], y: [-0.13 * C, 1.16 * C], height: 0.95,
                                      label: "The multipliers" });
  bars.draw = () => {
    const { a } = machine(shot / FRAMES), now = here();
    const bar = (i, height) => [[i - 0.35, 0], [i - 0.35, height], [i + 0.35, height], [i + 0.35, 0]];
    bars.path([[-0.6, C], [fresh + 0.6, C]], "live-line live-faint");
    bars.path([[-0.6, 0], [fresh + 0.6, 0]], "live-line");
    a.forEach((value, i) => {
      if (i === now?.i) bars.path(bar(i, C), "live-happens", true);
      bars.path(bar(i, value), value >= C ? "live-multiplier live-full" : "live-multiplier", true);
      bars.path([[i - 0.45, multipliers[0][i]], [i + 0.45, multipliers[0][i]]], "live-line");
      bars.text(i, 0, i, { dy: 16 });
    });
    bars.text(-0.6, C, "C", { anchor: "end", dx: -5, dy: 4 });
    bars.text(-0.6, 0, "0", { anchor: "end", dx: -5, dy: 4 });
    bars.text(-1.6, 1.16 * C, "multipliers (lines: before)", { anchor: "start", dx: 8, dy: 15 });
  };

  // The controls: along the path, and the film in both directions
  const along = slider({
    label: "Path", min: 0, max: last * FRAMES, step: 1, value: 0,
    show: (v) => `a = ${number(between(multipliers, v / FRAMES)[fresh])}`,
    input: (v) => { learn.halt(); unlearn.halt(); go(v); },
  });
  const go = (to) => {
    if (to !== shot) forwards = to > shot;
    [shot, along.value] = [to, to];
    update();
  };
  const play = (way, other) => () => {
    const [start, end] = way > 0 ? [0, last * FRAMES] : [last * FRAMES, 0];
    other().halt();
    if (shot === end) go(start);
    if (here() && held < HOLD) {
      held += 1;
      return true;
    }
    held = 0;
    go(shot + way);
    return shot !== end;
  };
  const learn = film({ start: "Learn it", pause: 80, step: play(1, () => unlearn) });
  const unlearn = film({ start: "Unlearn it", pause: 80, step: play(-1, () => learn) });
  box.add(learn.node, unlearn.node, along.node);

  // What the reader sees in words
  const happened = (now) => {
    const k = forwards ? Math.floor(shot / FRAMES) : Math.ceil(shot / FRAMES);
    if (shot === last * FRAMES) {
      return now.a[fresh] >= C ? "Done: its multiplier has reached C." : "Done: it has reached its margin.";
    }
    if (k === 0) return forwards ? "No event yet." : "It is forgotten: the machine is as it was before.";
    if (k === last) return "It is being unlearned.";
    const { i, text } = event(k);
    return `Event ${k} of ${last}: example ${i} ${text}.`;
  };
  const update = () => {
    const now = machine(shot / FRAMES), end = machine(last);
    plane.paint();
    bars.paint();
    const worst = Math.max(...X.map((_, i) => (i === fresh ? 0 : violation(now, i))));
    const far = Math.max(...end.a.map((a, i) => Math.abs(a - afresh[i])));
    box.say(`The new example has the multiplier ${number(now.a[fresh])}. ${happened(now)}`,
            `Largest KKT violation of the ${fresh} old examples: ${number(worst, 2)}; ` +
            `of the new one: ${number(violation(now, fresh), 3)}.`,
            shot < last * FRAMES ? "" : `Trained afresh on all ${points.length}, a machine has ` +
              (far < 1e-9 ? "the same multipliers, to nine digits." : `others, by up to ${number(far, 2)}.`));
  };
  update();

  const changed = multipliers[0].filter((a, i) => i !== fresh && Math.abs(a - multipliers[last][i]) > 1e-9);
  predict(box, {
    question: `The machine learns example ${fresh}. How many of the ${fresh} old multipliers are different ` +
      "at the end?",
    options: ["None", String(changed.length), `All ${fresh}`], answer: 1,
    because: "Only examples that are in the margin set somewhere on the way can change. Here " +
      `${plural(changed.length, "multiplier")} moved; the others stayed at 0 or at C.`,
  });
}

export default { render };
