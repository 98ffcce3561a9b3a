// The version space: every input cuts the machines that are still possible, the answer keeps one side.

import { Plane, button, choice, clamp, film, frame, number, plural, predict } from "./kernel.js";
import { generator } from "./numbers.js";

// A machine (u, v) answers +1 above the line of slope u and height v. All of them:
const SQUARE = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
const INPUTS = { x: [-2.3, 2.3], y: [-3.3, 3.3] };
const MOST = 20; // queries of the film

// What an input says about each machine: positive for those that answer +1 there
const side = ([x, y]) => ([u, v]) => y - u * x - v;

// The part of a polygon where an affine function is positive (Sutherland and Hodgman)
function clip(polygon, f) {
  return polygon.flatMap((p, i) => {
    const q = polygon[(i + 1) % polygon.length], [a, b] = [f(p), f(q)];
    const crossing = [0, 1].map((k) => p[k] + (a / (a - b)) * (q[k] - p[k]));
    return [...(a > 0 ? [p] : []), ...((a > 0) !== (b > 0) ? [crossing] : [])];
  });
}

// Area and centre of a polygon, from its triangles with the first corner
function measure(polygon) {
  let area = 0, centre = [0, 0];
  const [[a, b]] = polygon.length ? polygon : [[0, 0]];
  for (let i = 1; i + 1 < polygon.length; i += 1) {
    const [[c, d], [e, f]] = [polygon[i], polygon[i + 1]];
    const triangle = ((c - a) * (f - b) - (e - a) * (d - b)) / 2;
    area += triangle;
    centre = [centre[0] + (triangle * (a + c + e)) / 3, centre[1] + (triangle * (b + d + f)) / 3];
  }
  return { area, centre: centre.map((z) => z / area) };
}

const halves = (polygon, input) => {
  const f = side(input);
  return { yes: clip(polygon, f), no: clip(polygon, (p) => -f(p)) };
};

// The height at which an input in this column halves the polygon, by bisection
function halving(polygon, x) {
  const { area } = measure(polygon), heights = polygon.map(([u, v]) => u * x + v);
  let [low, high] = [Math.min(...heights), Math.max(...heights)];
  for (let k = 0; k < 60; k += 1) {
    const y = (low + high) / 2;
    if (measure(clip(polygon, side([x, y]))).area < area / 2) low = y; else high = y;
  }
  return (low + high) / 2;
}

// The best query: it halves the polygon, and of those that do, its cut is the shortest
function best(polygon) {
  let found = null, least = Infinity;
  for (let x = INPUTS.x[0]; x <= INPUTS.x[1]; x += 0.1) {
    const input = [x, halving(polygon, x)], f = side(input);
    const ends = clip(polygon, f).filter((p) => Math.abs(f(p)) < 1e-12);
    const cut = Math.hypot(ends[0]?.[0] - ends.at(-1)?.[0], ends[0]?.[1] - ends.at(-1)?.[1]);
    if (cut < least) [found, least] = [input, cut];
  }
  return found;
}

const percent = (share) => (share === 0 || share >= 1e-2 ? `${number(100 * share)}%`
  : `1 in ${Math.round(1 / share).toLocaleString("en")}`);
const inBits = (bits) => plural(Number(bits.toFixed(2)), "bit");
const entropy = (q) => (q > 0 && q < 1 ? -q * Math.log2(q) - (1 - q) * Math.log2(1 - q) : 0);

function render({ el }) {
  const box = frame(el, {
    title: "The version space",
    task: "The model answers +1 above a line that you do not see, of slope u and height v. On the right, " +
      "each point is such a machine. Click on the left to query an input, or move the cross with the " +
      "arrow keys and press Enter. Where nothing is coloured, the machines that are left disagree.",
  });
  const { uniform } = generator(14);
  let polygon, asked, hidden, shown, aimed, zoom, adversary = false;
  const reset = () => {
    [polygon, asked, shown, aimed] = [SQUARE, [], false, null];
    hidden = [2 * uniform() - 1, 2 * uniform() - 1];
    play?.halt();
  };
  const query = (input) => {
    const before = measure(polygon).area, { yes, no } = halves(polygon, input);
    const label = adversary ? measure(yes).area >= measure(no).area : side(input)(hidden) > 0;
    polygon = label ? yes : no;
    asked.push({ input, label, bits: Math.log2(before / measure(polygon).area) });
  };

  // The inputs: where all machines that are left agree, and what has been asked
  box.stage.classList.add("live-pair");
  const left = new Plane(box.stage, {
    ...INPUTS, height: 1, label: "The plane of inputs",
    click: (x, y) => { query([x, y]); aimed = [x, y]; update(); },
    aim: (...input) => { aimed = input.length ? input : null; update(); },
  });
  left.draw = () => {
    const { x: [first, last], y: [bottom, top] } = INPUTS;
    const columns = Array.from({ length: 93 }, (_, i) => first + ((last - first) * i) / 92);
    const edge = (pick) => columns.map((x) => [x, pick(...polygon.map(([u, v]) => u * x + v))]);
    left.path([[first, top], ...edge(Math.max), [last, top]], "live-side-positive", true);
    left.path([[first, bottom], ...edge(Math.min), [last, bottom]], "live-side-negative", true);
    const height = (x) => [x, hidden[0] * x + hidden[1]];
    if (shown && !adversary) left.path([first, last].map(height), "live-truth");
    for (const { input, label } of asked) left.label(...input, label);
    left.ticks({ xlabel: "input x₁", ylabel: "x₂" });
  };

  // The machines: those that are left, magnified by powers of two, and the cut of the next query
  const right = new Plane(box.stage, { x: [-1, 1], y: [-1, 1], height: 1, label: "The plane of machines" });
  const look = () => {
    const spans = [0, 1].map((k) => polygon.map((p) => p[k])).map((c) => [Math.min(...c), Math.max(...c)]);
    zoom = 2 ** Math.floor(Math.log2(2.01 / Math.max(...spans.map(([a, b]) => b - a))));
    const half = 1.3 / zoom;
    [right.x, right.y] = spans.map(([a, b]) => clamp((a + b) / 2, [half - 1.3, 1.3 - half]))
      .map((middle) => [middle - half, middle + half]);
  };
  const part = (some, whole, kind, sign) => {
    const { area, centre } = measure(some);
    if (!(area > 0)) return;
    right.path(some, kind, true);
    if (area > 0.02 * whole) right.text(...centre, `${sign} ${percent(area / whole)}`, { dy: 4 });
  };
  right.draw = () => {
    right.path(SQUARE, "live-line live-faint", true);
    for (const { input: [x, y] } of asked) {
      right.path([-1, 1].map((u) => [u, y - u * x]), "live-line live-faint");
    }
    right.path(polygon, aimed ? "live-line" : "live-version", true);
    if (aimed) {
      const { yes, no } = halves(polygon, aimed), { area } = measure(polygon);
      part(yes, area, "live-side-positive", "+1:");
      part(no, area, "live-side-negative", "−1:");
      right.path([-1, 1].map((u) => [u, aimed[1] - u * aimed[0]]), "live-line live-strong");
    }
    if (shown && !adversary) right.dot(...hidden, "live-found", 5);
    const show = (t) => number(t, 6);
    if (zoom > 1) {
      right.text(right.x[1], right.y[1], `magnified ${zoom} times`,
                 { kind: "live-text live-muted", anchor: "end", dx: -6, dy: 14 });
    }
    right.ticks({ xlabel: "slope u", ylabel: "height v", xshow: show, yshow: show });
  };

  // The controls: who answers, and the best queries as a film
  const play = film({
    start: "Ask the best queries", pause: 900,
    step: () => {
      if (asked.length >= MOST) reset();
      aimed = null;
      query(best(polygon));
      update();
      return asked.length < MOST;
    },
  });
  const who = choice({
    label: "Answers from", value: "hidden",
    options: [["hidden", "a hidden machine"], ["adversary", "an adversary"]],
    change: (value) => { adversary = value === "adversary"; reset(); update(); },
  });
  const reveal = button("Show the hidden machine", () => { shown = !shown; update(); });
  box.add(who.node, button("One best query", () => { aimed = null; query(best(polygon)); update(); }),
          play.node, reveal, button("Start again", () => { reset(); update(); }));

  // What the reader sees in words
  const ahead = () => {
    if (!aimed) return "";
    const q = measure(halves(polygon, aimed).yes).area / measure(polygon).area;
    return `A query here: +1 would keep ${percent(q)}, −1 would keep ${percent(1 - q)}; ` +
      (adversary ? `the adversary grants ${inBits(-Math.log2(Math.max(q, 1 - q)))}.`
        : `worth ${inBits(entropy(q))} on average.`);
  };
  const truth = () => (adversary ? "The adversary has chosen no machine: all that are left fit its answers."
    : `The hidden machine: u = ${number(hidden[0])}, v = ${number(hidden[1])}.`);
  const update = () => {
    const n = asked.length, share = measure(polygon).area / 4, bits = -Math.log2(share);
    look();
    left.paint();
    right.paint();
    reveal.textContent = shown ? "Hide the machine" : "Show the hidden machine";
    box.say(n === 0 ? "No query yet: all machines of the square are possible."
      : `${plural(n, "query", "queries")}: ${percent(share)} of the machines are left. That is ` +
        `${inBits(bits)}, ${inBits(bits / n)} per query. The last answer, ` +
        `${asked.at(-1).label ? "+1" : "−1"}, brought ${inBits(asked.at(-1).bits)}.`,
            ahead(), shown ? truth() : "");
  };
  predict(box, {
    question: "Choose an input as well as you can. Which part of the machines does its label rule out for " +
      "certain, whichever label it is?",
    options: ["Nine tenths", "One half at most", "A tenth at most"], answer: 1,
    because: "One of the two parts holds at least half of the machines, and the label may be the one that " +
      "keeps it. An adversary always answers so.",
  });
  reset();
  update();
}

export default { render };
