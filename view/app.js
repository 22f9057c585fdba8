/* app.js - the page: panels, controls, words, and what happens when something is chosen.
 *
 * One factor is one panel. Two factors are two: on the left the given one with its marginal density and the place that is
 * picked, on the right the other, given that place. T2 has the joint density on the left. All that can be chosen is in
 * `state`; refresh() shows it. */

const state = {
  given: 0, pick: [-1, -1], // nodes; -1: none yet
  marginal: false, log: false, relative: true, threshold: 0, points: head.points_shown <= 2000, // more would hide what they lie on
 
  together: true, flat: false, ring: false,
  read: false, // a place was picked on the factor that is not given
};
const $ = (id) => document.getElementById(id);
const KINDS = {
  S1: { noun: "circle", unit: "rad", shape: CircleShape },
  S2: { noun: "sphere", unit: "sr", shape: SphereShape },
  mesh: { noun: "surface", unit: "unit area", shape: MeshShape },
};
let factors, shapes, density, panels = [];
const pair = head.factors.length === 2, torus = pair && head.factors.every((f) => f.kind === "S1");
const capital = (text) => text[0].toUpperCase() + text.slice(1);

const unitOf = (f) => KINDS[f.kind].unit;
const nameOf = (f) => f.name || (torus ? ["x₁", "x₂"][f.number] : pair ? `factor ${f.factor}` : `the ${KINDS[f.kind].noun}`);
const capitalName = (f) => (torus && !f.name ? nameOf(f) : capital(nameOf(f)));
/* "S1^2 x mesh:1f" to "T² × surface". */
const raised = (digits) => [...digits].map((c) => SUPERSCRIPT[c]).join("");
const domainWords = () =>
  head.domain
    .replace(/mesh:[0-9a-f]+/g, "surface")
    .replace(/ x /g, " × ")
    .replace(/S1\^(\d+)/g, (_, d) => "T" + raised(d))
    .replace(/(S2|surface)\^(\d+)/g, (_, one, d) => Array(Number(d)).fill(one).join(" × "))
    .replace(/S([12])/g, (_, d) => "S" + raised(d));

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes))
    key in element && typeof value !== "string" ? (element[key] = value) : element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/* ---- panels ----------------------------------------------------------------------------------------------------- */

/* One card: a heading, a line about it, what is drawn, and the colour bar. */
class Panel {
  constructor(volume, unit) {
    Object.assign(this, { volume, unit, widgets: [] });
    this.title = make("h2");
    this.about = make("p", { class: "about" });
    this.stage = make("div", { class: "stage" });
    this.ramp = make("canvas", { class: "ramp", width: 256, height: 1 });
    this.ticks = make("div", { class: "ticks" });
    this.measure = make("b");
    this.content = make("span");
    this.bar = make("div", { class: "bar" }, this.ramp, this.ticks, make("div", { class: "unit" }, this.measure, this.content));
    this.element = make("section", { class: pair ? "panel" : "panel alone" }, this.title, this.about, this.stage, this.bar);
    $("panels").append(this.element);
  }
  shift() { // from log density to the log of what is read out
    return state.relative ? Math.log(this.volume) : 0;
  }
  measureWords() {
    return state.relative ? "times the uniform density" : `density per ${this.unit}`;
  }
  /* logs at nodes with their weights; in which widget; values (the others) are not shown. */
  show(widget, logs, weight) {
    for (const w of this.widgets) w.canvas.hidden = w !== widget;
    this.widget = widget;
    const top = logs.reduce((a, b) => Math.max(a, b), -Infinity), scale = new Scale(top, state.log);
    if (widget.shown !== logs) widget.setField(logs);
    widget.shown = logs;
    widget.setScale(scale, state.threshold, this.shift(), this.measureWords());
    Object.assign(this, { logs, weight, scale });
    this.showBar(!(widget instanceof CurvePanel));
  }
  showBar(coloured) {
    this.ramp.hidden = this.ticks.hidden = this.measure.hidden = !coloured;
    const context = this.ramp.getContext("2d"), hidden = cssVariable("--hidden");
    for (let i = 0; i < 256; i++) {
      context.fillStyle = i / 255 < state.threshold ? hidden : cssColour(i / 255);
      context.fillRect(i, 0, 1, 1);
    }
    this.ticks.replaceChildren(
      ...this.scale.ticks(this.shift()).map(({ value, place }) => make("span", { style: `left:${100 * place}%`, class: place < 0.01 ? "edge" : "" }, words(value))),
    );
    this.measure.textContent = capital(this.measureWords()) + (state.relative ? " (1 = uniform)" : "");
    this.content.textContent = "";
    if (state.threshold > 0) {
      const least = this.scale.logValue(state.threshold), { mass, volume } = above(this.logs, this.weight, least);
      this.content.textContent = `Shown, ≥ ${words(Math.exp(least + this.shift()))}: ${percent(mass)} of the probability on ${percent(volume)} of the ${this.unit === "rad" ? "circle" : "area"}`;
    }
  }
  /* What stands beside the pointer. */
  lines(place, log) {
    return [
      place,
      `${words(Math.exp(log + Math.log(this.volume)))} × uniform`,
      `${words(Math.exp(log))} per ${this.unit}`,
    ];
  }
  label(text) {
    this.stage.querySelectorAll("canvas").forEach((c) => c.setAttribute("aria-label", text));
  }
}

function failure(text) {
  $("panels").replaceChildren(make("p", { class: "failure" }, text));
}

/* A factor on its own. */
function factorPanel(s) {
  const f = factors[s], shape = shapes[s], panel = new Panel(f.volume, unitOf(f));
  if (f.kind === "S1") {
    const curve = new CurvePanel(panel.stage, shape, pair || f.name ? nameOf(f) : "angle");
    curve.onPick = (angle) => pickNode(s, shape.node(angle));
    curve.onStep = (by) => pickNode(s, (state.pick[s] + by + shape.count) % shape.count);
    curve.onHover = (angle) => panel.lines(angleWords(angle), curve.logAt(angle));
    panel.widgets = [curve];
    if (pair && !torus) addSlider(panel, s);
  } else {
    const view = new Panel3D(panel.stage, shape, {
      turntable: Boolean(shape.globe), normals: shape.globe ? "radial" : "mesh", relief: shape.globe ? 0.3 : 0.6, fit: shape.globe ? 1.06 : 0.92,
    });
    view.onPick = (hit) => pickNode(s, shape.tell(hit).node);
    view.onHover = (hit) => panel.lines(shape.tell(hit).words, view.logAt(hit));
    panel.widgets = [view];
  }
  panel.factor = s;
  return panel;
}

/* The angle of a circle that is given, by keyboard and by hand. */
function addSlider(panel, s) {
  const shape = shapes[s];
  const input = make("input", { type: "range", min: "0", max: String(shape.count - 1), "aria-label": nameOf(factors[s]) });
  const text = make("output"), play = make("button", { type: "button", "aria-pressed": "false" }, "Play");
  let timer = 0;
  input.addEventListener("input", () => pickNode(s, Number(input.value)));
  play.addEventListener("click", () => {
    clearInterval(timer);
    timer = timer ? 0 : setInterval(() => pickNode(s, (state.pick[s] + 1) % shape.count), 120);
    play.setAttribute("aria-pressed", String(Boolean(timer)));
    play.textContent = timer ? "Stop" : "Play";
  });
  panel.slider = make("div", { class: "pick" }, play, input, text);
  panel.element.append(panel.slider);
  panel.slide = () => {
    panel.slider.hidden = state.given !== s;
    input.value = state.pick[s];
    input.setAttribute("aria-valuetext", shape.nodeWords(state.pick[s]));
    text.textContent = shape.nodeWords(state.pick[s]);
  };
}

/* Both circles of T2: a torus and a map of the same. */
function jointPanel() {
  const panel = new Panel(factors[0].volume * factors[1].volume, "rad²"), shape = new TorusShape(...shapes);
  const names = factors.map(nameOf), n = shapes.map((c) => c.count), [p, q] = shape.drawn;
  const normal = Float32Array.from(shape.position, (_, k) => {
    const i = Math.floor(k / 3 / (q + 1)), j = Math.floor(k / 3) % (q + 1), x1 = (TURN * i) / p, x2 = (TURN * j) / q;
    return [Math.cos(x2) * Math.cos(x1), Math.cos(x2) * Math.sin(x1), Math.sin(x2)][k % 3];
  });
  const view = new Panel3D(panel.stage, shape, { turntable: false, normals: normal, relief: 0.5, fit: 0.97 });
  const plane = new PlanePanel(panel.stage, n, names);
  const pick = (x) => pickNodes(shapes.map((c, s) => c.node(x[s])));
  const place = (x) => x.map((angle, s) => `${names[s]}: ${angleWords(angle)}`).join(", ");
  view.onPick = (hit) => pick(shape.angles(hit));
  view.onHover = (hit) => panel.lines(place(shape.angles(hit)), view.logAt(hit));
  plane.onPick = pick;
  plane.onHover = (x) => panel.lines(place(x), plane.logAt(x));
  plane.onStep = (d, by) => pickNodes(state.pick.map((k, s) => (s === d ? (k + by + n[s]) % n[s] : k)));
  panel.face = ([x1, x2]) => { // from above, or from below where the place is
    [view.homeYaw, view.homePitch] = [x1, Math.sin(x2) < 0 ? -0.8 : 0.8];
    view.home();
  };
  panel.widgets = [view, plane];
  panel.torus = shape;
  return panel;
}

/* ---- what is chosen ----------------------------------------------------------------------------------------------- */

function pickNodes(nodes) {
  state.pick = nodes;
  refresh();
  $("live").textContent = panels.filter((p) => !p.element.hidden).map((p) => `${p.title.textContent}. ${p.about.textContent}`).join(" ");
}
/* On the given factor a place is the condition; on the other, its value is read out. */
function pickNode(s, node) {
  state.read ||= pair && s !== state.given;
  pickNodes(state.pick.map((old, k) => (k === s ? node : old)));
}
/* The value at the place that was picked on a panel. */
function readOut(panel, logs) {
  const s = panel.factor, node = state.pick[s];
  if (node < 0) return "";
  const [place, times, per] = panel.lines(shapes[s].nodeWords(node), logs[node]);
  return ` At ${place}: ${times}, ${per}.`;
}

const angleOf = (s) => shapes[s].nodePlace(state.pick[s])[0];
const some = (x, rows, width) => {
  const out = new Float32Array(rows.length * width);
  rows.forEach((r, i) => out.set(x.subarray(width * r, width * (r + 1)), width * i));
  return out;
};

/* The data on a factor's panel: all, or the rows that are near what is given. */
function dotsOf(s, rows) {
  const f = factors[s];
  if (!state.points || !f.points) return null;
  if (f.kind === "S1") return rows ? some(f.points, rows, 1) : f.points;
  return rows ? some(f.places, rows, 3) : f.places;
}

const KEY_HINT = "Arrow keys turn, plus and minus zoom, Enter picks the place in the middle.";

function showFactor(panel, logs, { marker, rows, title, about }) {
  const s = panel.factor, f = factors[s], widget = panel.widgets[0];
  if (widget instanceof CurvePanel) {
    widget.setRing(state.ring);
    widget.setMarker(marker < 0 ? null : shapes[s].nodePlace(marker)[0]);
  } else {
    widget.setMarker(marker < 0 ? null : shapes[s].nodePosition(marker));
  }
  widget.setDots(dotsOf(s, rows));
  panel.title.textContent = title;
  panel.about.textContent = about;
  panel.show(widget, logs, shapes[s].weight);
  panel.slide?.();
  panel.label(`${title}. ${about} ${f.kind === "S1" ? "Arrow keys move the place." : KEY_HINT}`);
}

function showJoint() {
  const panel = panels[0], widget = panel.widgets[state.flat ? 1 : 0], at = [angleOf(0), angleOf(1)];
  const dots = state.points && factors[0].points;
  if (state.flat) {
    widget.setDots(dots && Float32Array.from({ length: 2 * dots.length }, (_, k) => factors[k % 2].points[k >> 1]));
    widget.setMarker(at, state.given);
  } else {
    const xyz = dots && new Float32Array(3 * dots.length);
    if (dots) dots.forEach((x1, i) => xyz.set(panel.torus.place(x1, factors[1].points[i], 0.006), 3 * i));
    widget.setDots(xyz);
    widget.setMarker(panel.torus.place(...at));
  }
  const [a, b] = factors.map(nameOf);
  panel.title.textContent = `${capitalName(factors[0])} and ${b}: joint density`;
  panel.about.textContent = state.flat
    ? `Click or drag: the curve is the density along the line.`
    : `${capitalName(factors[0])} runs around the ring, ${b} around the tube. Drag to turn, click to pick a place.`;
  panel.show(widget, density.logs, jointWeight());
  panel.label(`${panel.title.textContent}. ${panel.about.textContent} ${state.flat ? "Arrow keys move the place." : KEY_HINT}`);
}
let joint = null;
function jointWeight() {
  const [a, b] = shapes.map((c) => c.weight);
  joint ||= Float64Array.from({ length: a.length * b.length }, (_, k) => a[(k / b.length) | 0] * b[k % b.length]);
  return joint;
}

/* The panel of the factor that is not given. */
function showOther(panel) {
  const g = state.given, o = 1 - g, there = shapes[g].nodeWords(state.pick[g]);
  const name = capitalName(factors[o]);
  const rows = state.marginal || !factors[g].points ? null : rowsNear(factors[g], shapes[g], state.pick[g]);
  const dots = rows && state.points ? ` Dots: the ${count(rows.length)} points whose ${nameOf(factors[g])} lies within ${nearWords(factors[g])} of it.` : "";
  const logs = state.marginal ? density.marginals[o] : conditionalNow();
  showFactor(panel, logs, {
    marker: state.read || torus ? state.pick[o] : -1,
    rows,
    title: state.marginal ? `${name}: marginal density` : `${name}, given ${nameOf(factors[g])} at ${there}`,
    about:
      (state.marginal ? `Whatever ${nameOf(factors[g])} may be.` : `Conditional density.${dots}`) +
      (state.read || torus ? readOut(panel, logs) : ""),
  });
}
let conditional = {};
function conditionalNow() {
  const key = state.given + "/" + state.pick[state.given];
  if (conditional.key !== key) conditional = { key, logs: density.conditional(state.given, state.pick[state.given]) };
  return conditional.logs;
}

function refresh() {
  if (!pair) {
    const f = factors[0], hint = f.kind === "S1" ? "Point at the curve" : "Brighter is denser. Drag to turn, point at a place";
    showFactor(panels[0], density.logs, {
      marker: state.pick[0], rows: null,
      title: f.name ? capital(f.name) : `Density on ${nameOf(f)}`,
      about: `${hint} to read its value, click to keep it.${readOut(panels[0], density.logs)}`,
    });
  } else if (torus) {
    showJoint();
    panels[1].element.hidden = state.given === 1;
    panels[2].element.hidden = state.given === 0;
    showOther(panels[state.given === 0 ? 1 : 2]);
  } else {
    const g = state.given, hint = factors[g].kind === "S1" ? "Click or drag" : "Drag to turn, click";
    panels[g].element.style.order = 0;
    panels[1 - g].element.style.order = 1;
    showFactor(panels[g], density.marginals[g], {
      marker: state.pick[g], rows: null,
      title: `${capital(nameOf(factors[g]))}: marginal density`,
      about: state.marginal ? "Drag to turn, point at a place to read its value." : `${hint} to pick another place.`,
    });
    showOther(panels[1 - g]);
  }
  for (const c of controls) c();
}

/* ---- controls -------------------------------------------------------------------------------------------------------- */

const controls = []; // each brings its element up to date
function addSwitch(text, key, choices) {
  const buttons = choices.map(([label, value]) => {
    const b = make("button", { type: "button" }, label);
    b.addEventListener("click", () => {
      state[key] = value;
      refresh();
    });
    controls.push(() => b.setAttribute("aria-pressed", String(state[key] === value)));
    return b;
  });
  const group = make("div", { class: "switch", role: "group", "aria-label": text }, ...buttons);
  $("controls").append(make("div", { class: "group" }, make("span", {}, text), group));
}
function addButton(text, act, title) {
  const b = make("button", { type: "button", title }, text);
  b.addEventListener("click", act);
  $("controls").append(b);
}
function addCheck(text, key) {
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => {
    state[key] = box.checked;
    refresh();
  });
  controls.push(() => (box.checked = state[key]));
  $("controls").append(make("label", { class: "check" }, box, text));
}
function addThreshold() {
  const slider = make("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "Hide what is below this share of the scale" });
  const text = make("output");
  slider.addEventListener("input", () => {
    state.threshold = slider.value / 100;
    refresh();
  });
  controls.push(() => {
    slider.value = 100 * state.threshold;
    text.textContent = state.threshold > 0 ? `below ${slider.value} % hidden` : "off";
  });
  $("controls").append(make("div", { class: "group" }, make("span", {}, "Threshold"), slider, text));
}

const views = () => panels.flatMap((p) => p.widgets).filter((w) => w instanceof Panel3D);
function swap() {
  state.given = 1 - state.given;
  state.read = false;
  refresh();
}
function buildControls() {
  if (pair) {
    addSwitch(torus ? "Curve" : "Second picture", "marginal", [["conditional", false], ["marginal", true]]);
    addButton("Swap factors", swap, "Make the other factor the given one (S)");
  }
  if (torus) addSwitch("Shape", "flat", [["torus", false], ["flat map", true]]);
  if (factors.some((f) => f.kind === "S1")) addSwitch("Circle", "ring", [["curve", false], ["ring", true]]);
  addSwitch("Scale", "log", [["linear", false], ["log", true]]);
  const units = [...new Set(factors.map(unitOf))].join(", ");
  addSwitch("Values", "relative", [["× uniform", true], [`per ${units}`, false]]);
  addThreshold();
  if (head.points_shown) addCheck("Data points", "points");
  const [a, b] = views();
  if (a && b && a.turntable === b.turntable) {
    addCheck("Turn together", "together");
    a.onTurn = () => state.together && b.follow(a);
    b.onTurn = () => state.together && a.follow(b);
  }
  if (a) addButton("Reset view", () => views().forEach((v) => v.home()), "Turn everything back");
}

const SHORTCUTS = {
  l: ["linear or logarithmic scale", () => (state.log = !state.log)],
  u: ["times uniform, or per unit", () => (state.relative = !state.relative)],
  p: ["data points on or off", () => (state.points = !state.points)],
  c: ["conditional or marginal", () => (state.marginal = !state.marginal), () => pair],
  s: ["swap the factors", swap, () => pair],
  f: ["torus or flat map", () => (state.flat = !state.flat), () => torus],
  r: ["curve or ring", () => (state.ring = !state.ring), () => head.factors.some((f) => f.kind === "S1")],
  "[": ["lower the threshold", () => (state.threshold = Math.max(0, state.threshold - 0.02))],
  "]": ["raise the threshold", () => (state.threshold = Math.min(1, state.threshold + 0.02))],
};
function buildHelp() {
  const usable = Object.entries(SHORTCUTS).filter(([, [, , when]]) => !when || when());
  const row = (keys, text) => make("tr", {}, make("td", {}, ...keys.map((k) => make("kbd", {}, k))), make("td", {}, text));
  const table = make("table", {},
    row(["Tab"], "from one control or picture to the next"),
    row(["←", "→", "↑", "↓"], "in a picture: turn it, or move the place on a curve or flat map; with Shift in finer (coarser) steps"),
    row(["+", "−", "Home"], "in a picture: zoom, and turn it back"),
    row(["Enter"], "in a picture: pick the place in its middle, which a cross marks, or the nearest to it"),
    ...usable.map(([key, [text]]) => row([key.toUpperCase()], text)),
    row(["?"], "this help"));
  const points = !pair ? ["The picture shows how probable each place is. Drag to turn it, wheel or pinch to zoom, point at a place to read its value."]
    : ["The first picture is the given factor. Click a place on it: the second shows the density of the other factor, given that place.",
       "“Marginal” shows the other factor whatever the first may be. “Swap factors” exchanges their parts."];
  $("help-text").append(...points.map((t) => make("p", {}, t)),
    make("p", {}, "“× uniform” says how many times denser a place is than if everything were spread evenly: 1 is even, 10 is ten times as dense. The threshold hides what lies lower on the colour scale, and tells how much probability is left on how much area."),
    make("h3", {}, "Keys"), table);
  const open = () => $("help").showModal();
  $("help-open").addEventListener("click", open);
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || $("help").open || /^(INPUT|SELECT)$/.test(e.target.tagName)) return;
    if (e.key === "?") return open();
    const found = SHORTCUTS[e.key.toLowerCase()];
    if (!found || (found[2] && !found[2]())) return;
    found[1]();
    refresh();
  });
}

function buildTheme() {
  const repaint = () => {
    for (const p of panels) for (const w of p.widgets) w.theme();
    refresh();
  };
  $("theme").addEventListener("change", () => {
    const choice = $("theme").value;
    choice === "auto" ? document.documentElement.removeAttribute("data-theme") : (document.documentElement.dataset.theme = choice);
    repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  repaint();
}

/* ---- words ------------------------------------------------------------------------------------------------------------- */

function sentence() {
  const [a, b] = factors.map(nameOf);
  if (!pair) return `Where points lie on ${a}: their probability density, estimated from ${count(head.n)} of them.`;
  return `How ${a} and ${b} go together: their probability density, estimated from ${count(head.n)} ${head.domain_factors > 2 ? "points" : "pairs"}. ` +
    `Click a place in the first picture: the second shows the density of ${b}, given that ${a}.`;
}
function notes() {
  const list = [], nodes = head.factors.map((f) => count(f.nodes)).join(" × ");
  list.push(`Estimated from ${count(head.n)} points by ${head.estimator} on ${domainWords()}; neuropmd ${head.version}.`);
  if (head.domain_factors > head.factors.length)
    list.push(`The model has ${head.domain_factors} factors; this is the marginal density of ${head.factors.length === 1 ? "factor" : "factors"} ${head.factors.map((f) => f.factor).join(" and ")}, the others integrated out.`);
  let thin = `Thinned: log density at ${nodes} nodes, kept to ${head.step / 2} (${percent(Math.expm1(head.step / 2))} of the density) and interpolated between them.`;
  if (head.compared)
    thin += ` Marginal densities are sums over nodes: within ${percent(head.sum_error)} of the integral at the ${head.compared} nodes compared.`;
  list.push(thin);
  if (head.points) list.push(`${count(head.points_shown)} of ${count(head.points)} data points are shown${head.points_shown < head.points ? ", chosen at random" : ""}.`);
  list.push("This file holds all it shows and asks nothing of the network. Drawn with three.js (MIT licence, in the source of this page).");
  return list;
}

/* ---- start --------------------------------------------------------------------------------------------------------------- */

/* Where the density is highest, towards the viewer. */
function faceTop(panel, s, logs) {
  const view = panel.widgets[0], shape = shapes[s], node = largest(logs);
  if (!(view instanceof Panel3D)) return;
  const [x, y, z] = shape.nodePosition(node);
  if (view.turntable) {
    view.homeYaw = Math.atan2(y, x);
    view.homePitch = Math.max(-0.9, Math.min(0.9, Math.atan2(z, Math.hypot(x, y))));
  } else {
    const left = factors[s].box[0] + factors[s].box[3] < 0; // a left hemisphere lies on the side of negative x
    view.homeYaw = left ? Math.PI : 0;
    view.homePitch = 0.12;
  }
  view.home();
}

async function start() {
  const title = head.title || `Density on ${domainWords()}`;
  document.title = title + " – neuropmd";
  $("title").textContent = title;
  if (typeof DecompressionStream === "undefined")
    return failure("This browser is too old for this page: it cannot inflate data (DecompressionStream). Any browser of 2023 or later can.");
  factors = await Promise.all(head.factors.map((_, s) => readFactor(s)));
  shapes = factors.map((f) => new KINDS[f.kind].shape(f));
  density = new Density(await readValues(), shapes);
  $("what").textContent = sentence();
  $("notes").replaceChildren(...notes().map((t) => make("p", {}, t)));
  try {
    panels = torus ? [jointPanel(), factorPanel(1), factorPanel(0)] : factors.map((_, s) => factorPanel(s));
  } catch (error) {
    return failure(`This browser cannot draw in three dimensions (WebGL): ${error.message}`);
  }
  if (pair) state.pick = density.marginals.map((m) => largest(m));
  if (!torus) panels.forEach((p, s) => faceTop(p, s, pair ? density.marginals[s] : density.logs));
  if (torus) {
    const top = largest(density.logs), m = shapes[1].count;
    state.pick = [Math.floor(top / m), top % m];
    panels[0].face([angleOf(0), angleOf(1)]);
  }
  buildControls();
  buildHelp();
  buildTheme();
  window.neuropmd = { // for tests, and for the console
    state, head, refresh, pickNode, ready: true,
    panel: (k) => panels.filter((p) => !p.element.hidden).sort((p, q) => (p.element.style.order || 0) - (q.element.style.order || 0))[k],
    place: (s, node) => shapes[s].nodePlace(node),
    log: (k, node) => window.neuropmd.panel(k).logs[node],
    /* How many different colours a picture has, and a number that differs where pictures do. */
    pixels(k) {
      const { widget } = window.neuropmd.panel(k), copy = make("canvas", { width: 200, height: 200 });
      widget.drawNow();
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(widget.canvas, 0, 0, 200, 200);
      const data = new Uint32Array(context.getImageData(0, 0, 200, 200).data.buffer);
      return { colours: new Set(data).size, sum: data.reduce((h, v) => (Math.imul(h, 31) + v) | 0, 7) };
    },
  };
}
start().catch((error) => {
  failure(`The page could not be shown: ${error.message}`);
  throw error;
});
