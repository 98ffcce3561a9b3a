// Be the bisector: a hidden boundary, labels at points of the reader's choice, one bracket to halve.

import { Plane, button, film, frame, number, plural, predict } from "./kernel.js";
import { generator } from "./numbers.js";

const RANGE = { x: [0, 10], y: [0, 7] };
const WIDTH = 1e-6; // of the bracket that is wanted, the distance of the two points being 1

// The hidden model: positive inside a bent oval
const value = ([x, y]) => 1 - ((x - 5.2) / 3.1) ** 2 - ((y - 3.4 - 0.9 * Math.sin(0.8 * x)) / 1.9) ** 2;
const positive = (point) => value(point) > 0;
const between = ([a, b], [c, d], t) => [a + t * (c - a), b + t * (d - b)];

function render({ el }) {
  const box = frame(el, {
    title: "Be the bisector",
    task: "The model behind this square answers with a label only. Click to ask for one (or move " +
      "the cross with the arrow keys and press Enter). Two unlike labels make a pair; then ask on " +
      "the segment between them, in the bar below.",
  });
  let asked, pair, ends, spent, shown, traced;

  // Ask for labels: anywhere, then inside the bracket
  const reset = () => {
    [asked, pair, ends, spent, shown, traced] = [[], null, null, 0, false, []];
    play?.halt();
  };
  const ask = (point) => {
    const label = positive(point);
    asked.push({ point, label });
    if (pair) return;
    const other = asked.filter((q) => q.label !== label);
    if (!other.length) return;
    const from = other.at(-1).point;
    pair = label ? { P: point, N: from } : { P: from, N: point };
    [ends, spent] = [[0, 1], 0]; // a share of the way from P to N: positive at 0, negative at 1
  };
  const halve = (share) => {
    if (!pair || ends[1] - ends[0] <= WIDTH) return;
    const t = ends[0] + share * (ends[1] - ends[0]);
    ends = positive(between(pair.P, pair.N, t)) ? [t, ends[1]] : [ends[0], t];
    spent += 1;
  };

  // The square: labels, the segment, and what is known of the boundary
  const plane = new Plane(box.stage, {
    ...RANGE, height: 0.62, equal: true, label: "The square of all inputs",
    click: (x, y) => { ask([x, y]); update(); },
  });
  plane.draw = () => {
    if (shown) {
      plane.sides((x, y) => value([x, y]));
      plane.contour((x, y) => value([x, y]));
    }
    if (pair) {
      plane.path([pair.P, pair.N], "live-line live-faint");
      plane.path(ends.map((t) => between(pair.P, pair.N, t)), "live-line live-strong");
    }
    for (const point of traced) plane.dot(...point, "live-found", 3);
    for (const { point, label } of asked) plane.label(...point, label);
  };

  // The bar: the bracket as it is now, drawn at full width
  const bar = new Plane(box.stage, {
    x: [0, 1], y: [0, 1], height: 0.11, least: 60, label: "The bracket, magnified to the width of the bar",
    click: (x) => { halve(x); update(); },
  });
  bar.draw = () => {
    bar.path([[0.02, 0.5], [0.98, 0.5]], `live-line ${pair ? "live-strong" : "live-faint"}`);
    if (!pair) {
      bar.text(0.5, 0.5, "first find two unlike labels", { kind: "live-text live-muted", dy: -8 });
      return;
    }
    bar.label(0.02, 0.5, true, 7);
    bar.label(0.98, 0.5, false, 7);
    bar.text(0.5, 0.5, `magnified ${number(1 / (ends[1] - ends[0]))} times`,
             { kind: "live-text live-muted", dy: -10 });
  };

  // The algorithm plays: halves to the end, then does the same for fifty pairs
  const play = film({
    start: "Let the algorithm halve", pause: 250,
    step: () => {
      if (!pair) [[5, 3.6], [0.8, 0.8]].forEach(ask);
      halve(0.5);
      update();
      return ends[1] - ends[0] > WIDTH;
    },
  });
  const trace = button("Bracket 50 pairs", () => {
    const { uniform } = generator(1);
    const draw = (wanted) => {
      for (;;) {
        const point = [10 * uniform(), 7 * uniform()];
        if (positive(point) === wanted) return point;
      }
    };
    traced = Array.from({ length: 50 }, () => {
      let [P, N] = [draw(true), draw(false)];
      for (let k = 0; k < 20; k += 1) {
        const middle = between(P, N, 0.5);
        if (positive(middle)) P = middle; else N = middle;
      }
      return between(P, N, 0.5);
    });
    update();
  });
  const reveal = button("Show the boundary", () => { shown = !shown; update(); });
  box.add(button("Ask in the middle", () => { halve(0.5); update(); }), play.node, trace, reveal,
          button("Start again", () => { reset(); update(); }));

  // What the reader sees in words
  const update = () => {
    plane.paint();
    bar.paint();
    reveal.textContent = shown ? "Hide the boundary" : "Show the boundary";
    if (!pair) {
      box.say(`${plural(asked.length, "label")} asked. Find one label of each kind.`);
      return;
    }
    const width = ends[1] - ends[0], best = Math.ceil(-Math.log2(width) - 1e-9);
    box.say(`${plural(spent, "label")} on the segment; the bracket is ${number(width)} of it. ` +
            `Halving every time: ${plural(best, "label")}.`,
            width <= WIDTH ? `A millionth is reached: log₂(1,000,000) = 19.9, so 20 halvings.` : "",
            traced.length ? "50 boundary points, 20 labels each: together they trace the boundary." : "");
  };
  predict(box, {
    question: "You know two points with unlike labels. How many more labels find the boundary " +
      "between them to a millionth of their distance?",
    options: ["20", "1,000", "1,000,000"], answer: 0,
    because: "Each label halves the bracket, and 2²⁰ is a little more than a million. Try it.",
  });
  reset();
  update();
}

export default { render };
