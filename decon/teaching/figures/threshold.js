// Where to cut: the scores of three groups of images, a threshold to drag, and who changes sides.

import { Plane, choice, clamp, frame, html, number, predict, slider } from "./kernel.js";

const SIDE = 20; // pixels of an image's side: one hexadecimal digit each
const SHOWN = 3; // images of each group on each side of the threshold

const percent = (part, all) => `${((100 * part) / all).toFixed(1)}%`;

// How many values of an ascending list are at most x
function below(values, x) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
}

function picture(pixels, error) {
  const canvas = html("canvas", { width: SIDE, height: SIDE, class: error ? "live-error" : "" });
  const context = canvas.getContext("2d"), data = context.createImageData(SIDE, SIDE);
  [...pixels].forEach((digit, i) => data.data.set([...Array(3).fill(255 - 17 * parseInt(digit, 16)), 255], 4 * i));
  context.putImageData(data, 0, 0);
  return canvas;
}

// `groups`: name, right (1 or -1), scores by machine, images with their scores by machine
function render({ model, el }) {
  const { groups, machines } = model.get("data");
  const box = frame(el, {
    title: "Where would you cut?",
    task: "Scores of test images, one row for each group. The machine says yes to the right of the threshold. " +
      "Drag the threshold, or use the slider. Blue is judged rightly, orange wrongly. Below are images near " +
      "the threshold on both sides, from a sample.",
  });
  for (const group of groups) for (const scores of group.scores) scores.sort((a, b) => a - b);
  let machine = machines.length - 1, cut = 0;
  const all = groups.flatMap((group) => group.scores.flat());
  const range = [Math.floor(10 * Math.min(...all)) / 10, Math.ceil(10 * Math.max(...all)) / 10];
  const hits = ({ scores, right }, at = cut, which = machine) => {
    const no = below(scores[which], at);
    return right > 0 ? scores[which].length - no : no;
  };

  // The rows of bars
  const plane = new Plane(box.stage, { x: range, y: [0, groups.length], height: 0.5, least: 240,
                                       label: "The scores" });
  plane.draw = () => {
    const bin = (range[1] - range[0]) / Math.round(plane.width / 6);
    groups.forEach((group, row) => {
      const scores = group.scores[machine], base = plane.py(groups.length - 1 - row) - (row === 2 ? 24 : 6);
      const high = plane.height / groups.length - (row === 2 ? 48 : 30);
      const count = (x) => below(scores, x + bin) - below(scores, x);
      const starts = [];
      for (let x = cut; x < range[1]; x += bin) starts.push(x);
      for (let x = cut - bin; x > range[0] - bin; x -= bin) starts.push(x);
      const most = Math.max(...starts.map(count));
      let [right, wrong] = ["", ""];
      for (const x of starts) {
        const tall = (count(x) / most) * high, u = plane.px(x);
        const bar = `M${u.toFixed(1)} ${base.toFixed(1)}v${(-tall).toFixed(1)}h5v${tall.toFixed(1)}z`;
        if ((x >= cut) === (group.right > 0)) right += bar; else wrong += bar;
      }
      plane.add("path", { d: right, class: "live-bin-right" });
      plane.add("path", { d: wrong, class: "live-bin-wrong" });
      plane.add("text", { x: 8, y: (plane.height / groups.length) * row + 18, class: "live-text" },
                `${group.name}: ${percent(hits(group), scores.length)} right`);
    });
    plane.add("path", { d: `M${plane.px(cut).toFixed(1)} 0v${plane.height}`, class: "live-boundary" });
    plane.ticks({ y: false });
  };
  const move = (x) => {
    cut = clamp(x, range);
    dial.value = cut;
    update();
  };
  plane.handle({ name: "Threshold", at: () => [cut, groups.length / 2], fixed: "y", move: (x) => move(x) });

  // The controls
  const dial = slider({ label: "Threshold", min: range[0], max: range[1], step: 0.01, value: cut, input: move,
                        show: (v) => number(v) });
  const which = choice({ label: "Machine", value: String(machine), options: machines.map((name, i) => [String(i), name]),
                         change: (k) => { machine = Number(k); update(); } });
  box.add(dial.node, which.node);

  // The nearest images of each group
  const gallery = html("div", { class: "live-images" });
  box.stage.append(gallery);
  const show = () => gallery.replaceChildren(...groups.map(({ name, right, images }) => {
    const near = (side) => images.filter(({ scores }) => (scores[machine] > cut) === (side > 0))
      .sort((a, b) => Math.abs(a.scores[machine] - cut) - Math.abs(b.scores[machine] - cut)).slice(0, SHOWN);
    const sides = [[-1, "no"], [1, "yes"]].map(([side, word]) => html("span", {}, `${word} `,
      ...near(side).sort((a, b) => a.scores[machine] - b.scores[machine])
        .map(({ pixels }) => picture(pixels, side !== right)), " "));
    return html("div", {}, html("p", {}, name), ...sides);
  }));

  // What the reader sees in words
  const update = () => {
    plane.paint();
    show();
    const rates = groups.map((group) => hits(group) / group.scores[machine].length);
    box.say(`${machines[machine]}, threshold ${number(cut)}: ` + groups.map((group) =>
      `${group.name} ${hits(group).toLocaleString("en")} of ${group.scores[machine].length.toLocaleString("en")}`)
        .join(", ") + ` right; mean of the three rates ${percent(rates.reduce((a, b) => a + b), rates.length)}.`);
  };
  update();

  // The question: the price of the last group's errors for 99% of the second group
  const last = machines.length - 1, eights = groups[1].scores[last], rest = groups.at(-1);
  const at = eights[Math.floor(eights.length / 100)], alarms = 1 - hits(rest, at - 1e-9, last) / rest.scores[last].length;
  const guesses = [0.05, 0.2, 0.5], nearest = guesses.map((g) => Math.abs(Math.log(g / alarms)));
  predict(box, {
    question: `Lower the threshold until the upgraded machine recognises 99% of the ${groups[1].name}. Of 100 ` +
      "other images, how many does it then take for a 1 or an 8?",
    options: guesses.map((g) => `About ${100 * g}`), answer: nearest.indexOf(Math.min(...nearest)),
    because: `At the threshold ${number(at, 2)} it takes ${percent(alarms, 1)} of them. The last few 8s are the dearest.`,
  });
}

export default { render };
