// What all live figures share: the frame around one, a plane to draw on, points to drag, controls.
//
// A figure draws with `plane.draw = () => {...}`, which is called again whenever anything changes:
// the reader's action, the width of the page. Colours come from classes in live.css alone, so a
// change of theme needs no script. Whatever the mouse does, the keyboard does too.

// Elements of HTML and of SVG: children are nodes or strings, a function is a listener

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export const html = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

let count = 0;
export const identifier = () => `live-${(count += 1)}`;

// Numbers as the book prints them: a true minus sign, and 1.2 × 10⁻⁷ for what is far from 1

export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "∞";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) {
    const [mantissa, exponent] = value.toExponential(Math.max(digits - 2, 0)).split("e");
    return `${mantissa} × ${power(Number(exponent))}`.replace(/^-/, "−");
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

// A power of ten, 10⁻⁷: the ticks of logarithmic axes
export const power = (exponent) =>
  `10${[...String(exponent)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;

export const plural = (n, noun, nouns = `${noun}s`) => `${number(n, 6)} ${n === 1 ? noun : nouns}`;

export const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The frame: a title, a question to be guessed first, the stage, the controls, the read-out

export function frame(el, { title, task }) {
  const stage = html("div", { class: "live-stage" });
  const controls = html("div", { class: "live-controls" });
  const readout = html("p", { class: "live-readout", role: "status" });
  const heading = html("p", { class: "live-title", id: identifier() }, title);
  const box = html("section", { class: "live-frame", "aria-labelledby": heading.id }, heading);
  if (task) box.append(html("p", { class: "live-task" }, task));
  box.append(stage, controls, readout);
  el.replaceChildren(box);

  // The read-out is announced when the reader pauses, not at every pixel of a drag
  let waiting;
  const say = (...lines) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const text = lines.filter(Boolean);
      if (readout.textContent !== text.join("")) {
        readout.replaceChildren(...text.flatMap((t, i) => (i ? [html("br"), t] : [t])));
      }
    }, 60);
  };
  return { el: box, stage, controls, say, add: (...nodes) => controls.append(...nodes) };
}

// A question before the figure: the stage stays closed until the reader has guessed

export function predict(frame, { question, options, answer, because }, opened = () => {}) {
  const reply = html("p", { class: "live-reply", role: "status" });
  const group = html("div", { class: "live-options", role: "group", "aria-label": question });
  const box = html("div", { class: "live-predict" }, html("p", {}, question), group, reply);
  const covered = [frame.stage, frame.controls];
  const open = (chosen) => {
    for (const part of covered) part.inert = false;
    frame.el.classList.remove("live-closed");
    for (const button of group.children) {
      button.setAttribute("aria-pressed", String(button.dataset.option === chosen));
    }
    const right = options.indexOf(chosen) === answer;
    if (chosen) reply.textContent = `${right ? "Yes" : `No: ${options[answer]}`}. ${because}`;
    opened(chosen);
  };
  for (const option of options) {
    group.append(html("button", { type: "button", "data-option": option, "aria-pressed": "false",
                                  click: () => open(option) }, option));
  }
  group.append(html("button", { type: "button", class: "live-skip", click: () => open(null) },
                    "Just show me"));
  for (const part of covered) part.inert = true;
  frame.el.classList.add("live-closed");
  frame.stage.before(box);
}

// Controls: native elements, which bring their keys with them

export function button(label, click, attributes) {
  return html("button", { type: "button", click, ...attributes }, label);
}

export function slider({ label, min, max, step = "any", value, show = number, input }) {
  const id = identifier();
  const text = html("output", { for: id }, show(value));
  const range = html("input", {
    type: "range", id, min, max, step, value, "aria-valuetext": show(value),
    input: () => { shown(); input(Number(range.value)); },
  });
  const shown = () => {
    text.textContent = show(Number(range.value));
    range.setAttribute("aria-valuetext", text.textContent);
  };
  const node = html("div", { class: "live-slider" }, html("label", { for: id }, label), range, text);
  return { node, get value() { return Number(range.value); },
           set value(v) { range.value = v; shown(); } };
}

export function choice({ label, options, value, change }) {
  const id = identifier();
  const node = html("select", { id, change: () => change(node.value) },
                    ...options.map(([key, text]) =>
                      html("option", { value: key, selected: key === value }, text)));
  return { node: html("div", { class: "live-choice" }, html("label", { for: id }, label), node),
           get value() { return node.value; }, set value(v) { node.value = v; } };
}

export function checkbox({ label, checked = false, change }) {
  const node = html("input", { type: "checkbox", checked, change: () => change(node.checked) });
  return { node: html("label", { class: "live-check" }, node, ` ${label}`),
           get checked() { return node.checked; }, set checked(v) { node.checked = v; } };
}

// A film: `step()` until it returns false; all at once for readers who want no motion

export function film({ step, pause = 400, start = "Play", stop = "Stop", ended = () => {} }) {
  let timer = null;
  const node = button(start, () => (timer ? halt() : run()));
  const halt = () => {
    clearTimeout(timer);
    timer = null;
    node.textContent = start;
  };
  const next = () => {
    if (!node.isConnected || step() === false) {
      halt();
      if (node.isConnected) ended();
      return;
    }
    timer = setTimeout(next, pause);
  };
  const run = () => {
    if (still()) {
      for (let i = 0; i < 10000 && step() !== false; i += 1);
      ended();
      return;
    }
    node.textContent = stop;
    next();
  };
  return { node, halt, run, get running() { return timer !== null; } };
}

// The plane: mathematical coordinates over an SVG of the page's width

export class Plane {
  constructor(parent, { x, y, height = 0.75, least = 90, label, equal = false, click, aim }) {
    Object.assign(this, { x, y, ratio: height, least, equal, width: 0, height: 0, handles: [] });
    this.draw = () => {};
    this.ground = svg("g", { "aria-hidden": "true" });
    this.front = svg("g");
    this.svg = svg("svg", { class: "live-plane", role: "group", "aria-label": label },
                   this.ground, this.front);
    this.box = html("div", { class: "live-plane-box" }, this.svg);
    parent.append(this.box);
    if (click) this.clickable(click, aim);
    new ResizeObserver(() => this.fit()).observe(this.box);
    this.fit();
  }

  // Take the width of the page, then draw
  fit() {
    const width = Math.round(this.box.clientWidth) || 560;
    if (width === this.width) return;
    this.width = width;
    this.height = Math.round(clamp(width * this.ratio, [this.least, 460]));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", this.height);
    this.paint();
  }

  // The range that is seen: with equal scales, as much more of one axis as the shape asks for
  get view() {
    const [[a, b], [c, d]] = [this.x, this.y];
    if (!this.equal) return { x: [a, b], y: [c, d] };
    const unit = Math.max((b - a) / this.width, (d - c) / this.height);
    const [u, v] = [(unit * this.width) / 2, (unit * this.height) / 2];
    return { x: [(a + b) / 2 - u, (a + b) / 2 + u], y: [(c + d) / 2 - v, (c + d) / 2 + v] };
  }

  paint() {
    this.seen = this.view;
    this.ground.replaceChildren();
    this.draw(this);
    for (const handle of this.handles) handle.place();
  }

  // Coordinates to pixels and back
  px(x) { return ((x - this.seen.x[0]) / (this.seen.x[1] - this.seen.x[0])) * this.width; }
  py(y) { return (1 - (y - this.seen.y[0]) / (this.seen.y[1] - this.seen.y[0])) * this.height; }
  at(event) {
    const rect = this.svg.getBoundingClientRect();
    const [u, v] = [(event.clientX - rect.left) / rect.width, (event.clientY - rect.top) / rect.height];
    const { x, y } = this.seen;
    return [x[0] + u * (x[1] - x[0]), y[1] - v * (y[1] - y[0])];
  }

  add(tag, attributes, ...children) {
    const node = svg(tag, attributes, ...children);
    this.ground.append(node);
    return node;
  }

  // Shapes
  path(points, kind = "live-line", closed = false) {
    const d = points.map(([x, y], i) =>
      `${i ? "L" : "M"}${this.px(x).toFixed(1)} ${this.py(y).toFixed(1)}`).join("");
    return this.add("path", { d: d + (closed ? "Z" : ""), class: kind });
  }

  dot(x, y, kind = "live-dot", radius = 4) {
    return this.add("circle", { cx: this.px(x).toFixed(1), cy: this.py(y).toFixed(1), r: radius,
                                class: kind });
  }

  // A labelled point as everywhere in the book: a blue circle for +1, a vermilion square for -1
  label(x, y, positive, size = 5) {
    if (positive) return this.dot(x, y, "live-positive", size);
    return this.add("rect", { x: (this.px(x) - size).toFixed(1), y: (this.py(y) - size).toFixed(1),
                              width: 2 * size, height: 2 * size, class: "live-negative" });
  }

  text(x, y, words, { kind = "live-text", anchor = "middle", dx = 0, dy = 0 } = {}) {
    return this.add("text", { x: (this.px(x) + dx).toFixed(1), y: (this.py(y) + dy).toFixed(1),
                              class: kind, "text-anchor": anchor }, words);
  }

  arrow([x0, y0], [x1, y1], kind = "live-arrow") {
    const [a, b, c, d] = [this.px(x0), this.py(y0), this.px(x1), this.py(y1)];
    const turn = Math.atan2(d - b, c - a);
    const wing = (side) => `L${(c - 8 * Math.cos(turn + side)).toFixed(1)} ${
      (d - 8 * Math.sin(turn + side)).toFixed(1)}`;
    const tip = `${c.toFixed(1)} ${d.toFixed(1)}`;
    return this.add("path", { class: kind, d: `M${a.toFixed(1)} ${b.toFixed(1)}L${tip}` +
      `M${tip}${wing(0.4)}M${tip}${wing(-0.4)}` });
  }

  // The mark of a support vector as everywhere in the book: a diamond where the multiplier is free,
  // a circle where it is at its bound
  ring(x, y, bounded, { kind = "live-support", size = 11, width = 2.5 } = {}) {
    if (bounded) return this.add("circle", { cx: this.px(x).toFixed(1), cy: this.py(y).toFixed(1), r: size,
                                             class: kind, style: `stroke-width: ${width}` });
    const [u, v, s] = [this.px(x), this.py(y), 1.3 * size];
    return this.add("path", { d: `M${u - s} ${v}L${u} ${v - s}L${u + s} ${v}L${u} ${v + s}Z`, class: kind,
                              style: `stroke-width: ${width}` });
  }

  // The line w.x = b, across the whole picture
  line(w, b, kind = "live-boundary") {
    const [u, v] = w.map((c) => c / (w[0] ** 2 + w[1] ** 2)), far = 1000 / Math.hypot(u, v);
    return this.path([-far, far].map((s) => [b * u - s * v, b * v + s * u]), kind);
  }

  // Options of a text beside one of several points: on the side where the others leave most room
  beside([x, y], points, width = 30) {
    const [u, v] = [this.px(x), this.py(y)];
    const places = [[16, 5, "start", width / 2], [-16, 5, "end", -width / 2], [0, -18, "middle", 0],
                    [0, 27, "middle", 0]];
    const room = ([dx, dy, , more]) => Math.min(...points.map(([p, q]) => (p === x && q === y ? Infinity
      : Math.hypot(this.px(p) - u - dx - more, this.py(q) - v - dy + 4))));
    const inside = ([dx, , , more]) => u + dx + 2 * more > 0 && u + dx + 2 * more < this.width;
    const [dx, dy, anchor] = places.filter(inside).sort((a, b) => room(b) - room(a))[0];
    return { dx, dy, anchor };
  }

  // Both sides of a function's zero set, in pale colours: runs of cells of `cell` pixels
  sides(f, cell = 4) {
    const runs = { true: "", false: "" };
    for (let v = 0; v < this.height; v += cell) {
      const y = this.seen.y[1] - ((v + cell / 2) / this.height) * (this.seen.y[1] - this.seen.y[0]);
      let from = 0, side = null;
      for (let u = 0; u <= this.width + cell; u += cell) {
        const x = this.seen.x[0] + ((u + cell / 2) / this.width) * (this.seen.x[1] - this.seen.x[0]);
        const now = u <= this.width ? f(x, y) > 0 : null;
        if (now !== side) {
          if (side !== null) runs[side] += `M${from} ${v}h${u - from}v${cell}h${from - u}z`;
          [from, side] = [u, now];
        }
      }
    }
    this.add("path", { d: runs.true, class: "live-side-positive" });
    this.add("path", { d: runs.false, class: "live-side-negative" });
  }

  // Where a function takes a value: marching squares; `halvings` of a cell's edge find the crossing
  // of a function that is no straight line there
  contour(f, value = 0, kind = "live-boundary", cell = 6, halvings = 0) {
    const columns = Math.ceil(this.width / cell), rows = Math.ceil(this.height / cell);
    const { x: [x0, x1], y: [y0, y1] } = this.seen;
    const at = (i, j) => f(x0 + ((i * cell) / this.width) * (x1 - x0),
                           y1 - ((j * cell) / this.height) * (y1 - y0)) - value;
    const values = Array.from({ length: rows + 1 }, (_, j) =>
      Array.from({ length: columns + 1 }, (__, i) => at(i, j)));
    let d = "";
    for (let j = 0; j < rows; j += 1) {
      for (let i = 0; i < columns; i += 1) {
        // The crossings of this cell's four edges, in order around it
        const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        const crossings = [];
        for (let k = 0; k < 4; k += 1) {
          const [[a, b], [c, e]] = [corners[k], corners[(k + 1) % 4]];
          const [from, to] = [values[j + b][i + a], values[j + e][i + c]];
          if ((from > 0) !== (to > 0)) {
            let t = from / (from - to);
            for (let n = 0, ends = [0, 1]; n < halvings; n += 1) {
              t = (ends[0] + ends[1]) / 2;
              ends = (at(i + a + t * (c - a), j + b + t * (e - b)) > 0) === (from > 0) ? [t, ends[1]]
                : [ends[0], t];
            }
            crossings.push(`${((i + a + t * (c - a)) * cell).toFixed(1)} ${
              ((j + b + t * (e - b)) * cell).toFixed(1)}`);
          }
        }
        for (let k = 0; k + 1 < crossings.length; k += 2) {
          d += `M${crossings[k]}L${crossings[k + 1]}`;
        }
      }
    }
    return this.add("path", { d, class: kind });
  }

  // Axes with round numbers, below and on the left
  ticks({ x = true, y = true, xlabel, ylabel, xshow = number, yshow = number } = {}) {
    const { x: [x0, x1], y: [y0, y1] } = this.seen;
    if (x) {
      for (const t of round([x0, x1], this.width / 90)) {
        this.add("path", { d: `M${this.px(t).toFixed(1)} ${this.height}v-5`, class: "live-tick" });
        if (this.px(t) > 12 && this.px(t) < this.width - 12) {
          this.text(t, y0, xshow(t), { kind: "live-text live-muted", dy: -9 });
        }
      }
    }
    if (y) {
      for (const t of round([y0, y1], this.height / 60)) {
        this.add("path", { d: `M0 ${this.py(t).toFixed(1)}h5`, class: "live-tick" });
        if (this.py(t) > 16 && this.py(t) < this.height - 22) {
          this.text(x0, t, yshow(t), { kind: "live-text live-muted", anchor: "start", dx: 8, dy: 4 });
        }
      }
    }
    if (xlabel) this.text(x1, y0, xlabel, { anchor: "end", dx: -4, dy: -24 });
    if (ylabel) this.text(x0, y1, ylabel, { anchor: "start", dx: 8, dy: 14 });
  }

  // A point to drag. Arrows move it, with Shift ten times as finely
  handle({ name, at, move, kind = "live-handle", shape = "circle", fixed = null }) {
    const mark = shape === "circle" ? svg("circle", { r: 8, class: kind })
      : svg("rect", { x: -7, y: -7, width: 14, height: 14, class: kind });
    const node = svg("g", { class: "live-grip", tabindex: 0, role: "button",
                            "aria-roledescription": "movable point" },
                     svg("circle", { r: 22, class: "live-reach" }), mark);
    const go = (x, y) => {
      move(fixed === "x" ? at()[0] : clamp(x, this.seen.x), fixed === "y" ? at()[1] : clamp(y, this.seen.y));
      this.paint();
    };
    const handle = {
      node, mark, at,
      place: () => {
        const [x, y] = at();
        node.setAttribute("transform", `translate(${this.px(x).toFixed(1)} ${this.py(y).toFixed(1)})`);
        const spoken = typeof name === "function" ? name() : name;
        node.setAttribute("aria-label", `${spoken}, at ${number(x)}, ${number(y)}; arrow keys move it`);
      },
      remove: () => {
        node.remove();
        this.handles = this.handles.filter((other) => other !== handle);
      },
    };
    node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      event.stopPropagation();
      node.setPointerCapture(event.pointerId);
      node.focus({ preventScroll: true });
      const drag = (e) => go(...this.at(e));
      node.addEventListener("pointermove", drag);
      for (const end of ["pointerup", "pointercancel"]) {
        node.addEventListener(end, () => node.removeEventListener("pointermove", drag), { once: true });
      }
    });
    node.addEventListener("keydown", (event) => {
      const [dx, dy] = direction(event);
      if (!dx && !dy) return;
      event.preventDefault();
      const [x, y] = at(), step = event.shiftKey ? 0.002 : 0.02;
      go(x + dx * step * (this.seen.x[1] - this.seen.x[0]), y + dy * step * (this.seen.y[1] - this.seen.y[0]));
    });
    this.front.append(node);
    this.handles.push(handle);
    if (this.seen) handle.place();
    return handle;
  }

  // In a crowd of points to drag, the pointer takes the nearest, not the one that lies on top
  crowd() {
    this.svg.addEventListener("pointerdown", (event) => {
      const hit = event.target.closest(".live-grip");
      if (!hit || !event.isTrusted) return;
      const [x, y] = this.at(event);
      const far = ({ at }) => Math.hypot(this.px(at()[0]) - this.px(x), this.py(at()[1]) - this.py(y));
      const near = this.handles.filter((h) => h.at).sort((a, b) => far(a) - far(b))[0];
      if (near.node === hit) return;
      event.preventDefault();
      event.stopPropagation();
      near.node.dispatchEvent(new PointerEvent("pointerdown", event));
    }, { capture: true });
  }

  // A plane to click on: arrows move a cross, Enter clicks where it stands. `aim` is told where the
  // mouse or the cross is before that, and nothing when it is gone
  clickable(click, aim = () => {}) {
    const cross = svg("path", { d: "M-10 0h20M0 -10v20", class: "live-cross" });
    const node = svg("g", { class: "live-cursor", tabindex: 0, role: "button",
                            "aria-roledescription": "cross" }, cross);
    let at = null;
    const place = () => {
      const { x, y } = this.seen;
      at ??= [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
      node.setAttribute("transform", `translate(${this.px(at[0]).toFixed(1)} ${this.py(at[1]).toFixed(1)})`);
      node.setAttribute("aria-label", `Cross at ${number(at[0])}, ${number(at[1])}; arrow keys move ` +
        "it, Enter clicks");
    };
    this.svg.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") aim(...this.at(event));
    });
    this.svg.addEventListener("pointerleave", () => aim());
    node.addEventListener("focus", () => aim(...at));
    node.addEventListener("blur", () => aim());
    this.svg.addEventListener("click", (event) => {
      if (event.target.closest(".live-grip")) return;
      at = this.at(event);
      click(...at);
      this.paint();
    });
    node.addEventListener("keydown", (event) => {
      const [dx, dy] = direction(event), step = event.shiftKey ? 0.005 : 0.04;
      if (dx || dy) {
        const { x, y } = this.seen;
        at = [clamp(at[0] + dx * step * (x[1] - x[0]), x), clamp(at[1] + dy * step * (y[1] - y[0]), y)];
        place();
        aim(...at);
      } else if (event.key === "Enter" || event.key === " ") {
        click(...at);
        this.paint();
      } else return;
      event.preventDefault();
    });
    this.front.append(node);
    this.handles.push({ place, node });
  }
}

// Space: seen from afar, turned about the upright and tilted by dragging or by the arrow keys, in
// degrees. What `put` is given has a place, and is drawn from the far places to the near ones

export class Space extends Plane {
  constructor(parent, { half: [u, v], basis, turn, tilt, label, ...rest }) {
    super(parent, { x: [-u, u], y: [-v, v], equal: true, label, ...rest });
    Object.assign(this, { basis, turn, tilt, middle: [0, 0, 0] });
    this.front.append(this.grip(label));
  }

  // The directions to the right, upwards and towards the reader; a point, from the middle
  rotate(p) {
    const [x, y, z] = this.basis.map((row) => row.reduce((sum, v, i) => sum + v * p[i], 0));
    const [turn, tilt] = [(this.turn * Math.PI) / 180, (this.tilt * Math.PI) / 180];
    const near = z * Math.cos(turn) - x * Math.sin(turn);
    return [x * Math.cos(turn) + z * Math.sin(turn), y * Math.cos(tilt) - near * Math.sin(tilt),
            y * Math.sin(tilt) + near * Math.cos(tilt)];
  }
  see(p) { return this.rotate(p.map((v, i) => v - this.middle[i])); }
  flat(p) { return this.see(p).slice(0, 2); }

  put(place, draw) { this.parts.push([this.see(place)[2], draw]); }
  paint() {
    this.parts = [];
    super.paint();
    for (const [, draw] of this.parts.sort((a, b) => a[0] - b[0])) draw();
  }

  // What is dragged: sideways moves are ours on a touch screen, the others scroll the page
  grip(label) {
    const node = svg("g", { class: "live-grip live-turn", tabindex: 0, role: "button",
                            "aria-roledescription": "drawing to turn" },
                     svg("rect", { class: "live-reach", width: "100%", height: "100%" }));
    const go = (dx, dy) => {
      this.turn = (this.turn + dx) % 360;
      this.tilt = clamp(this.tilt + dy, [-90, 90]);
      this.paint();
    };
    let last = null;
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      last = event;
    });
    node.addEventListener("pointermove", (event) => {
      if (!last) return;
      go((event.clientX - last.clientX) / 2, (event.clientY - last.clientY) / 2);
      last = event;
    });
    for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, () => { last = null; });
    node.addEventListener("keydown", (event) => {
      const [dx, dy] = direction(event), step = event.shiftKey ? 1 : 5;
      if (!dx && !dy) return;
      event.preventDefault();
      go(dx * step, -dy * step);
    });
    this.handles.push({ node, place: () => node.setAttribute("aria-label", `${label}, turned by ` +
      `${number(this.turn)}°, tilted by ${number(this.tilt)}°; arrow keys turn it`) });
    this.handles.at(-1).place();
    return node;
  }
}

export const direction = (event) => ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
                                       ArrowDown: [0, -1] }[event.key] ?? [0, 0]);

// Round numbers inside a range, about `wanted` of them
export function round([low, high], wanted) {
  const raw = (high - low) / Math.max(wanted, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((s) => s * power >= raw) * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}
