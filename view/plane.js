/* plane.js - a density on T2 as a flat map, x1 to the right and x2 upwards; its opposite sides are one. */

/* A canvas that is sharp on this screen, and drawn anew when its size changes. */
function flatCanvas(stage, draw) {
  const canvas = document.createElement("canvas");
  canvas.className = "flat";
  canvas.setAttribute("role", "application");
  stage.append(canvas);
  new ResizeObserver(() => draw()).observe(stage);
  return canvas;
}
function canvasContext(canvas) {
  const ratio = Math.min(2, window.devicePixelRatio || 1), { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.round(ratio * width);
  canvas.height = Math.round(ratio * height);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "12px " + getComputedStyle(document.body).fontFamily;
  return { context, width, height };
}
const TURN = 2 * Math.PI;
const angleTicks = () => (head.coords & 2 ? ["0°", "90°", "180°", "270°", "360°"] : ["0", "π/2", "π", "3π/2", "2π"]);

class PlanePanel {
  constructor(stage, sides, names) {
    Object.assign(this, { stage, sides, names, scale: new Scale(0, false), threshold: 0 });
    this.canvas = flatCanvas(stage, () => this.draw());
    this.tip = new Tip(stage);
    const pick = (px, py) => {
      const at = this.angles(px, py);
      if (at) this.onPick?.(at);
    };
    watchPointers(this.canvas, {
      drag: (dx, dy, px, py) => pick(px, py),
      click: pick,
      hover: (px, py) => {
        const at = this.angles(px, py), lines = at && this.onHover?.(at);
        lines ? this.tip.show(px, py, lines) : this.tip.hide();
      },
      leave: () => this.tip.hide(),
    });
    const step = (d, by) => (shift) => this.onStep?.(d, shift ? 5 * by : by);
    watchKeys(this.canvas, {
      ArrowLeft: step(0, -1), ArrowRight: step(0, 1), ArrowDown: step(1, -1), ArrowUp: step(1, 1),
    });
  }
  setField(logs) {
    this.logs = logs;
    this.draw();
  }
  setScale(scale, threshold) {
    Object.assign(this, { scale, threshold });
    this.draw();
  }
  setDots(angles) {
    this.dots = angles;
    this.draw();
  }
  setMarker(at, given) {
    Object.assign(this, { marker: at, given });
    this.draw();
  }
  theme() {
    this.draw();
  }
  area(width, height) {
    const side = Math.max(40, Math.min(width - 64, height - 52));
    return { side, left: (width - side) / 2 + 16, top: 6 };
  }
  angles(px, py) {
    const { width, height } = this.canvas.getBoundingClientRect(), { side, left, top } = this.area(width, height);
    const u = (px - left) / side, v = 1 - (py - top) / side;
    return u >= 0 && u < 1 && v >= 0 && v < 1 ? [TURN * u, TURN * v] : null;
  }
  /* log f between nodes, bilinear. */
  logAt([x1, x2]) {
    const [n, m] = this.sides, s = ((x1 / TURN) * n) % n, t = ((x2 / TURN) * m) % m;
    const i = Math.floor(s), j = Math.floor(t), u = s - i, v = t - j, i1 = (i + 1) % n, j1 = (j + 1) % m;
    const f = this.logs;
    return (1 - u) * ((1 - v) * f[i * m + j] + v * f[i * m + j1]) + u * ((1 - v) * f[i1 * m + j] + v * f[i1 * m + j1]);
  }
  image(side) {
    const image = new ImageData(side, side), hidden = [1, 3, 5].map((i) => parseInt(cssVariable("--hidden").slice(i, i + 2), 16));
    for (let y = 0, k = 0; y < side; y++)
      for (let x = 0; x < side; x++, k += 4) {
        const t = this.scale.place(this.logAt([(TURN * (x + 0.5)) / side, TURN * (1 - (y + 0.5) / side)]));
        const c = 3 * Math.round(255 * t);
        for (let b = 0; b < 3; b++) image.data[k + b] = t < this.threshold ? hidden[b] : COLOURS[c + b];
        image.data[k + 3] = 255;
      }
    return image;
  }
  draw() {
    if (!this.logs) return;
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }
  drawNow() {
    const { context, width, height } = canvasContext(this.canvas);
    if (width < 80) return;
    const { side, left, top } = this.area(width, height), pixels = Math.min(600, Math.round(side));
    const map = document.createElement("canvas");
    map.width = map.height = pixels;
    map.getContext("2d").putImageData(this.image(pixels), 0, 0);
    context.drawImage(map, left, top, side, side);
    context.strokeStyle = cssVariable("--soft");
    context.fillStyle = cssVariable("--soft");
    context.strokeRect(left - 0.5, top - 0.5, side + 1, side + 1);
    angleTicks().forEach((text, k) => {
      const x = left + (side * k) / 4, y = top + side - (side * k) / 4;
      context.textAlign = "center";
      context.fillText(text, x, top + side + 18);
      context.textAlign = "right";
      context.fillText(text, left - 8, y + 4);
    });
    context.fillStyle = cssVariable("--ink");
    context.textAlign = "center";
    context.fillText(this.names[0], left + side / 2, top + side + 38);
    context.save();
    context.translate(left - 44, top + side / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(this.names[1], 0, 0);
    context.restore();
    this.drawMarks(context, side, left, top);
  }
  drawMarks(context, side, left, top) {
    const at = ([x1, x2]) => [left + (side * x1) / TURN, top + side * (1 - x2 / TURN)];
    for (let i = 0; this.dots && i < this.dots.length; i += 2) {
      const [x, y] = at([this.dots[i], this.dots[i + 1]]);
      context.fillStyle = "rgb(18 18 18 / .8)";
      context.fillRect(x - 1.6, y - 1.6, 3.2, 3.2);
      context.fillStyle = "#fff";
      context.fillRect(x - 0.9, y - 0.9, 1.8, 1.8);
    }
    if (!this.marker) return;
    const [x, y] = at(this.marker);
    for (const [colour, thick] of [["#121212", 3.5], ["#ffffff", 1.6]]) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.beginPath();
      this.given === 0 ? (context.moveTo(x, top), context.lineTo(x, top + side)) : (context.moveTo(left, y), context.lineTo(left + side, y));
      context.stroke();
      context.beginPath();
      context.arc(x, y, 6, 0, TURN);
      context.stroke();
    }
    context.lineWidth = 1;
  }
}
