// Turn the boundary: a machine in space, and normals measured from its labels, gathered at one point.

import { Space, button, clamp, film, frame, number, predict } from "./kernel.js";
import { add, cross, dot, generator, norm, singular, unit } from "./numbers.js";

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const COUNT = 40, STEP = 1e-6, TURNS = 24;

// Two support vectors each. The boundary runs round the line through `middle` along `axis`; `inner`
// is the label on that line, `ends` where the drawing stops
const MACHINES = {
  cylinder: {
    Y: [[1, 0, 1], [0, 1, 0]], w: [1, 1], b: 5, kernel: (x, y) => (dot(x, y) + 1) ** 2, spread: 2,
    middle: [-0.5, -1, -0.5], axis: unit([1, 0, -1]), up: [0, 1, 0], inner: false, ends: [-3, 3],
    rings: 5, arrow: 1, unit: 2.2, half: [4.1, 3.3], view: { turn: -35, tilt: 20 },
  },
  revolution: {
    Y: [[0.9, 0.3, -0.7], [-0.3, 0.6, 0.9]], w: [1, 0.6], b: 0.35, spread: 1,
    kernel: (x, y) => Math.exp(-(norm(add(x, y, -1)) ** 2) / (2 * 0.8 ** 2)),
    middle: [0.3, 0.45, 0.1], axis: unit([-1.2, 0.3, 1.6]), up: unit([4, 0, 3]), inner: true, ends: null,
    rings: 11, arrow: 0.5, unit: 1.5, half: [2.5, 1.9], view: { turn: -30, tilt: 20 },
  },
};

// Boundary points and normals, from labels alone

const label = (m, x) => m.w.reduce((sum, w, i) => sum + w * m.kernel(x, m.Y[i]), 0) > m.b;

function bracket(m, P, N) {
  for (let k = 0; k < 50; k += 1) {
    const middle = add(P, N).map((v) => v / 2);
    if (label(m, middle)) P = middle; else N = middle;
  }
  return P;
}

// The heights of the boundary above two steps aside give the normal
function measure(m, x, v) {
  const least = v.map(Math.abs).indexOf(Math.min(...v.map(Math.abs)));
  const aside = unit(cross(v, [0, 1, 2].map((i) => Number(i === least))));
  let n = v;
  for (const u of [aside, cross(v, aside)]) {
    const foot = add(x, u, STEP);
    let reach = STEP;
    while (!label(m, add(foot, v, reach)) || label(m, add(foot, v, -reach))) {
      if ((reach *= 2) > 10 * STEP) return null; // a line that grazes the boundary
    }
    const top = bracket(m, add(foot, v, reach), add(foot, v, -reach));
    n = add(n, u, -dot(v, add(top, foot, -1)) / STEP);
  }
  return unit(n);
}

// Random points of unlike labels, halved to a boundary point each
function sample(m) {
  const { normal } = generator(4), found = [];
  const draw = (wanted) => {
    for (;;) {
      const x = [0, 1, 2].map(() => m.spread * normal());
      if (label(m, x) === wanted) return x;
    }
  };
  while (found.length < COUNT) {
    const [P, N] = [draw(true), draw(false)], x = bracket(m, P, N), n = measure(m, x, unit(add(P, N, -1)));
    const along = dot(add(x, m.middle, -1), m.axis);
    if (n && (!m.ends || Math.abs(along) < m.ends[1])) found.push({ x, n });
  }
  return found;
}

// Rings of boundary points round the axis, each found on a ray that leaves it
function rings(m) {
  const out = cross(m.axis, m.up), far = (a, u) => {
    if (label(m, a) !== m.inner) return a;
    return m.inner ? bracket(m, a, add(a, u, 5)) : bracket(m, add(a, u, 5), a);
  };
  const ends = m.ends ?? [-1, 1].map((s) => dot(m.axis, add(far(m.middle, m.axis.map((v) => s * v)),
                                                            m.middle, -1)));
  return Array.from({ length: m.rings }, (_, i) => {
    const share = i / (m.rings - 1), t = m.ends ? share : (1 - Math.cos(Math.PI * share)) / 2;
    const a = add(m.middle, m.axis, ends[0] + t * (ends[1] - ends[0]));
    return Array.from({ length: TURNS }, (__, j) => {
      const turn = (2 * Math.PI * j) / TURNS;
      return far(a, m.up.map((v, k) => Math.cos(turn) * v + Math.sin(turn) * out[k]));
    });
  });
}

const QUESTIONS = {
  cylinder: {
    question: "Move all these arrows to one starting point, without turning them. What do they form?",
    options: ["A ball of arrows in all directions", "A cone", "A flat fan"], answer: 2,
    because: "Each gradient is a combination of the two support vectors, so each normal lies in the plane " +
      "that they span.",
  },
  revolution: {
    question: "What do the normals of this boundary have in common?",
    options: ["They are parallel to one plane", "Their lines all meet in one point",
              "Their lines all meet one line", "Nothing"], answer: 2,
    because: "They point in all directions, but extended to lines they all meet the line through the two " +
      "support vectors.",
  },
};

function render({ model, el }) {
  const symmetry = model.get("data").symmetry, cylinder = symmetry === "cylinder";
  const m = MACHINES[symmetry], points = sample(m), mesh = rings(m);
  const outwards = m.inner ? -1 : 1;
  const box = frame(el, {
    title: "Turn the boundary",
    task: "A machine in three dimensions, seen through its labels: its boundary, and unit normals at " +
      `${COUNT} points of it. Drag the drawing to turn it, or use the arrow keys.`,
  });

  const space = new Space(box.stage, { half: m.half, ...m.view, height: 0.68, least: 250,
                                       label: "The boundary in space",
                                       basis: [m.axis, m.up, cross(m.axis, m.up)] });
  const flat = (p) => space.flat(p);

  // How far the normals fill space, and how far their lines pass the axis and one another
  const { values, vectors } = singular(points.map(({ n }) => n));
  const apart = (x, n, a, d) => Math.abs(dot(add(x, a, -1), unit(cross(n, d))));
  const misses = points.map(({ x, n }) => apart(x, n, m.Y[0], m.axis));
  const mutual = points.flatMap(({ x, n }, i) =>
    points.slice(0, i).map((other) => apart(x, n, other.x, other.n)));

  // What is drawn; the eye follows the arrows from the middle of the boundary to the origin
  let gathered = 0, extended = 0;
  space.draw = () => {
    space.middle = m.middle.map((v) => v * (1 - gathered));
    if (gathered < 1) surface();
    points.forEach(arrow);
    if (gathered === 1) space.put([0, 0, 0], cylinder ? fan : ball);
    if (extended === 1) space.put(m.middle, axis);
    update();
  };
  const surface = () => {
    for (let i = 0; i + 1 < mesh.length; i += 1) {
      for (let j = 0; j < TURNS; j += 1) {
        const k = (j + 1) % TURNS, face = [mesh[i][j], mesh[i][k], mesh[i + 1][k], mesh[i + 1][j]];
        const [[a, b], [c, d], [e, f], [g, h]] = face.map(flat);
        const front = (e - a) * (h - d) > (f - b) * (g - c); // seen from outside
        space.put(face.reduce((sum, p) => add(sum, p, 0.25), [0, 0, 0]), () =>
          space.path(face.map(flat), `live-face${front ? " live-front" : ""}`, true)
            .setAttribute("opacity", (1 - gathered) * (1 - 0.5 * extended)));
      }
    }
  };

  // An arrow: on the boundary, on its way to the origin, or extended to the axis and a little beyond
  const arrow = ({ x, n }) => {
    const start = x.map((v) => v * (1 - gathered));
    const tip = add(start, n, outwards * (m.arrow + gathered * (m.unit - m.arrow)));
    const near = clamp(0.7 + (0.3 * space.see(tip)[2]) / (m.unit + 1 - gathered), [0.4, 1]);
    space.put(tip, () => space.arrow(flat(start), flat(tip)).setAttribute("opacity", near));
    if (gathered < 1) space.put(x, () => space.dot(...flat(x), "live-dot", 2.5));
    if (!extended) return;
    const lean = add(n, m.axis, -dot(n, m.axis)), reach = dot(add(m.Y[0], x, -1), lean) / dot(lean, lean);
    space.put(x, () => space.path([x, add(x, n, 1.2 * extended * reach)].map(flat), "live-ray"));
  };

  // The plane of the fan, the ball that the arrows fill, the axis, and the support vectors
  const circle = Array.from({ length: 72 }, (_, i) =>
    [m.unit * Math.cos((i * Math.PI) / 36), m.unit * Math.sin((i * Math.PI) / 36)]);
  const fan = () => {
    const disc = circle.map(([s, t]) => flat(vectors[0].map((v, k) => s * v + t * vectors[1][k])));
    space.path(disc, "live-fan", true);
    m.Y.forEach((y, i) => support(y.map((v) => m.unit * v), i));
  };
  const ball = () => space.path(circle, "live-margin", true);
  const axis = () => {
    space.path([-2.2, 2.2].map((t) => flat(add(m.middle, m.axis, t))), "live-axis");
    m.Y.forEach(support);
  };
  const support = (y, i) => {
    const [u, v] = flat(y), top = `M${space.px(u).toFixed(1)} ${(space.py(v) - 8).toFixed(1)}`;
    space.add("path", { class: "live-vector", d: `${top}l8 8l-8 8l-8 -8z` });
    space.text(u, v, `y${"₁₂"[i]}`, { kind: "live-text live-halo", dx: 17, dy: -9 });
  };

  // Two films: the arrows travel to the origin, or grow to lines
  const grow = (share) => (share === 1 ? 0 : Math.min(1, share + 1 / 16));
  const gather = film({ start: "Gather the arrows at the origin", pause: 40, step: () => {
    extend.halt();
    [gathered, extended] = [grow(gathered), 0];
    space.paint();
    return gathered < 1;
  } });
  const extend = film({ start: "Extend them to lines", pause: 40, step: () => {
    gather.halt();
    [gathered, extended] = [0, grow(extended)];
    space.paint();
    return extended < 1;
  } });
  box.add(gather.node, ...(cylinder ? [] : [extend.node]), button("Put them back", () => {
    gather.halt();
    extend.halt();
    [gathered, extended] = [0, 0];
    space.paint();
  }));

  // What is seen, in words
  const update = () => {
    const sizes = `The singular values of the ${COUNT} normals are ${number(values[0])}, ` +
      `${number(values[1])} and ${number(values[2])}.`;
    const sight = (Math.asin(Math.abs(space.rotate(vectors[2])[2])) * 180) / Math.PI;
    if (gathered === 1 && cylinder) {
      box.say(`${sizes} The third is 0 up to the errors of measurement: the normals lie in one plane, ` +
              "and so do the support vectors y₁ and y₂.",
              `Your line of sight makes ${number(sight, 2)}° with this plane` +
              (sight < 3 ? ": you see the fan from its edge." : "."));
    } else if (gathered === 1) {
      box.say(`${sizes} The third is not near 0: the normals point in all directions, ` +
              "and their span says nothing about the support vectors.");
    } else if (extended === 1) {
      box.say(`All ${COUNT} lines meet the line through the support vectors y₁ and y₂: the largest ` +
              `distance from it is ${number(Math.max(...misses))}, the error of measurement.`,
              `For comparison: two of the lines are ${number(median(mutual), 2)} apart in the median.`);
    } else {
      box.say(`${COUNT} boundary points and their normals, from labels alone` +
              (m.inner ? "; the arrows point outwards, along −n." : "."));
    }
  };
  predict(box, QUESTIONS[symmetry]);
  space.paint();
}

export default { render };
