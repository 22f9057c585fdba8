/* state.js - the densities that the page can show, from the one table that it was given.
 *
 *     f_1(x_i) = sum_j w_j f(x_i, y_j),      f(y_j | x_i) = f(x_i, y_j) / f_1(x_i),     all as logs */

class Density {
  constructor(logs, shapes) {
    this.logs = logs;
    this.shapes = shapes;
    if (shapes.length === 2) this.marginals = [0, 1].map((s) => this.marginal(s));
  }
  at(s, i, j) { // node i of factor s, node j of the other
    return this.logs[s === 0 ? i * this.shapes[1].weight.length + j : j * this.shapes[1].weight.length + i];
  }
  marginal(s) {
    const n = this.shapes[s].weight.length, weight = this.shapes[1 - s].weight, out = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      let top = -Infinity, sum = 0;
      for (let j = 0; j < weight.length; j++) top = Math.max(top, this.at(s, i, j));
      for (let j = 0; j < weight.length; j++) sum += weight[j] * Math.exp(this.at(s, i, j) - top);
      out[i] = top + Math.log(sum);
    }
    return out;
  }
  /* Of the other factor, given node i of factor s. */
  conditional(s, i) {
    const below = this.marginals[s][i];
    return Float32Array.from(this.shapes[1 - s].weight, (_, j) => this.at(s, i, j) - below);
  }
}

/* Probability and share of the volume where log f is at least this. */
function above(logs, weight, least) {
  let mass = 0, all = 0, volume = 0, total = 0;
  for (let i = 0; i < logs.length; i++) {
    const m = weight[i] * Math.exp(logs[i]);
    all += m;
    total += weight[i];
    if (logs[i] >= least) {
      mass += m;
      volume += weight[i];
    }
  }
  return { mass: mass / all, volume: volume / total };
}

const largest = (values) => values.reduce((best, v, i) => (v > values[best] ? i : best), 0);

/* Rows of the data whose given factor lies near a node: within NEAR radians, or of a mesh that many tenths of the square
 * root of its area. */
const NEAR = (15 * Math.PI) / 180;
function rowsNear(factor, shape, node) {
  const at = shape.nodePlace(node), x = factor.points, rows = [];
  if (factor.kind === "S1") {
    x.forEach((angle, i) => {
      const d = Math.abs(angle - at[0]) % TURN;
      if (Math.min(d, TURN - d) <= NEAR) rows.push(i);
    });
  } else {
    const reach = factor.kind === "S2" ? 2 * Math.sin(NEAR / 2) : 0.1 * Math.sqrt(factor.volume);
    for (let i = 0; i < x.length / 3; i++)
      if (Math.hypot(x[3 * i] - at[0], x[3 * i + 1] - at[1], x[3 * i + 2] - at[2]) <= reach) rows.push(i);
  }
  return rows;
}
function nearWords(factor) {
  return factor.kind === "mesh" ? words(0.1 * Math.sqrt(factor.volume)) + " (mesh units)" : "15°";
}
