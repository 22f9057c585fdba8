/* curve.js - a density on the circle: as a curve over the angle, or around a ring, 0 to the right and counter-clockwise. */

class CurvePanel {
  constructor(stage, shape, name) {
    Object.assign(this, { stage, shape, name, scale: new Scale(0, false), threshold: 0, ring: false, shift: 0, unit: "" });
    this.canvas = flatCanvas(stage, () => this.draw());
    this.tip = new Tip(stage);
    const pick = (px, py) => {
      const angle = this.angle(px, py);
      if (angle !== null) this.onPick?.(angle);
    };
    watchPointers(this.canvas, {
      drag: (dx, dy, px, py) => pick(px, py),
      click: pick,
      hover: (px, py) => {
        const angle = this.angle(px, py), lines = angle !== null && this.onHover?.(angle);
        lines ? this.tip.show(px, py, lines) : this.tip.hide();
      },
      leave: () => this.tip.hide(),
    });
    const step = (by) => (shift) => this.onStep?.(shift ? 5 * by : by);
    watchKeys(this.canvas, {
      ArrowLeft: step(-1), ArrowDown: step(-1), ArrowRight: step(1), ArrowUp: step(1), Home: () => this.onStep?.(0),
    });
  }
  setField(logs) {
    this.logs = logs;
    this.draw();
  }
  setScale(scale, threshold, shift, unit) {
    Object.assign(this, { scale, threshold, shift, unit });
    this.draw();
  }
  setDots(angles) {
    this.dots = angles;
    this.draw();
  }
  setMarker(angle) {
    this.marker = angle;
    this.draw();
  }
  setRing(ring) {
    this.ring = ring;
    this.draw();
  }
  theme() {
    this.draw();
  }
  /* log f between nodes, linear. */
  logAt(angle) {
    const n = this.shape.count, s = ((((angle / TURN) % 1) + 1) % 1) * n, i = Math.floor(s) % n, u = s - Math.floor(s);
    return (1 - u) * this.logs[i] + u * this.logs[(i + 1) % n];
  }
  layout() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const radius = Math.max(30, Math.min(width, height) / 2 - 26);
    return { width, height, left: 66, right: width - 16, top: 14, bottom: height - 46, x0: width / 2, y0: height / 2, radius };
  }
  angle(px, py) {
    const a = this.layout();
    if (this.ring) return (Math.atan2(a.y0 - py, px - a.x0) + TURN) % TURN;
    const u = (px - a.left) / (a.right - a.left);
    return u >= 0 && u <= 1 ? (TURN * u) % TURN : null;
  }
  /* Where the value at an angle is drawn; place 0 is the axis. */
  point(a, angle, place) {
    if (!this.ring) return [a.left + ((a.right - a.left) * angle) / TURN, a.bottom - (a.bottom - a.top) * 0.96 * place];
    const r = a.radius * (0.42 + 0.58 * place);
    return [a.x0 + r * Math.cos(angle), a.y0 - r * Math.sin(angle)];
  }
  draw() {
    if (!this.logs) return;
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }
  drawNow() {
    const { context, width } = canvasContext(this.canvas), a = this.layout();
    if (width < 80) return;
    this.ring ? this.drawRingAxes(context, a) : this.drawAxes(context, a);
    this.drawArea(context, a);
    this.drawMarks(context, a);
  }
  drawAxes(context, a) {
    context.strokeStyle = cssVariable("--line");
    context.fillStyle = cssVariable("--soft");
    for (const { value, place } of this.scale.ticks(this.shift)) {
      const [, y] = this.point(a, 0, place);
      context.beginPath();
      context.moveTo(a.left, y);
      context.lineTo(a.right, y);
      context.stroke();
      context.textAlign = "right";
      context.fillText(words(value), a.left - 8, y + 4);
    }
    angleTicks().forEach((text, k) => {
      context.textAlign = "center";
      context.fillText(text, a.left + ((a.right - a.left) * k) / 4, a.bottom + 18);
    });
    context.fillStyle = cssVariable("--ink");
    context.fillText(this.name, (a.left + a.right) / 2, a.bottom + 38);
    context.save();
    context.translate(16, (a.top + a.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(this.unit, 0, 0);
    context.restore();
  }
  drawRingAxes(context, a) {
    context.strokeStyle = cssVariable("--line");
    context.fillStyle = cssVariable("--soft");
    context.textAlign = "center";
    for (const { value, place } of this.scale.ticks(this.shift)) {
      context.beginPath();
      context.arc(a.x0, a.y0, a.radius * (0.42 + 0.58 * place), 0, TURN);
      context.stroke();
      const [x, y] = this.point(a, 0.32 * Math.PI, place);
      if (place > 0.15) context.fillText(words(value), x, y + 4);
    }
    angleTicks().slice(0, 4).forEach((text, k) => {
      const [x, y] = [a.x0 + (a.radius + 13) * Math.cos((k * Math.PI) / 2), a.y0 - (a.radius + 13) * Math.sin((k * Math.PI) / 2)];
      context.fillText(text, x, y + 4);
    });
    context.fillStyle = cssVariable("--ink");
    context.fillText(this.name, a.x0, a.y0 - 12);
    context.fillStyle = cssVariable("--soft");
    const middle = this.unit.indexOf(" ", 6);
    context.fillText(this.unit.slice(0, middle), a.x0, a.y0 + 6);
    context.fillText(this.unit.slice(middle + 1), a.x0, a.y0 + 22);
  }
  /* Between the axis and the curve: in the accent above the threshold, grey below. */
  drawArea(context, a) {
    const strips = 720, curve = cssVariable("--curve"), hidden = cssVariable("--hidden");
    const angle = (k) => (TURN * k) / strips, place = (k) => this.scale.place(this.logAt(angle(k)));
    const isAbove = (k) => Math.max(place(k), place(k + 1)) >= this.threshold;
    for (let first = 0, k = 1; k <= strips; k++) {
      if (k < strips && isAbove(k) === isAbove(first)) continue;
      context.fillStyle = isAbove(first) ? curve : hidden;
      context.globalAlpha = 0.28;
      context.beginPath();
      for (let i = first; i <= k; i++) context.lineTo(...this.point(a, angle(i), place(i)));
      for (let i = k; i >= first; i--) context.lineTo(...this.point(a, angle(i), 0));
      context.fill();
      context.globalAlpha = 1;
      first = k;
    }
    context.strokeStyle = curve;
    context.lineWidth = 2;
    context.beginPath();
    for (let k = 0; k <= strips; k++) context.lineTo(...this.point(a, angle(k), place(k)));
    context.stroke();
    context.lineWidth = 1;
  }
  drawMarks(context, a) {
    context.strokeStyle = cssVariable("--ink");
    context.globalAlpha = 0.35;
    context.beginPath();
    for (const angle of this.dots || []) {
      const [x, y] = this.point(a, angle, 0), [u, v] = this.point(a, angle, this.ring ? -0.06 : 0.035);
      context.moveTo(x, y);
      context.lineTo(u, v);
    }
    context.stroke();
    context.globalAlpha = 1;
    if (this.marker === null || this.marker === undefined) return;
    const place = this.scale.place(this.logAt(this.marker));
    context.strokeStyle = context.fillStyle = cssVariable("--ink");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(...this.point(a, this.marker, 0));
    context.lineTo(...this.point(a, this.marker, Math.max(place, 0.02)));
    context.stroke();
    context.beginPath();
    context.arc(...this.point(a, this.marker, place), 5, 0, TURN);
    context.fill();
    context.lineWidth = 1;
  }
}
