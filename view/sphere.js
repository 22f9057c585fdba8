/* sphere.js - the geodesic grid of the sphere: the faces of an icosahedron, each cut into R^2 triangles.
 *
 * The same tables as in src/view/geodesic.c, so that nodes have the same numbers. The flat barycentric coordinates of a
 * direction on its face, times R, tell the triangle of the grid in which it lies. */

const ICO = (() => {
  const corner = [[0, 0, 1]], face = [], edge = new Map();
  for (let k = 0; k < 10; k++) {
    const upper = k < 5, angle = ((2 * Math.PI) / 5) * (upper ? k : k - 5 + 0.5);
    corner.push([2 * Math.cos(angle), 2 * Math.sin(angle), upper ? 1 : -1].map((c) => c / Math.sqrt(5)));
  }
  corner.push([0, 0, -1]);
  for (let r = 0; r < 5; r++) {
    const s = (r + 1) % 5, u = 1 + r, v = 1 + s, l = 6 + r, k = 6 + s;
    face.push([0, u, v], [u, l, v], [v, l, k], [11, k, l]);
    [[0, u], [u, v], [u, l], [v, l], [l, k], [11, l]].forEach(([a, b], t) => edge.set(a * 12 + b, 6 * r + t));
  }
  /* rows of the inverse of (A B C), and the direction of the middle, a face */
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const inverse = face.map((f) => {
    const [a, b, c] = f.map((i) => corner[i]), det = dot(a, cross(b, c));
    return [cross(b, c), cross(c, a), cross(a, b)].map((row) => row.map((e) => e / det));
  });
  const middle = face.map((f) => [0, 1, 2].map((c) => f.reduce((sum, i) => sum + corner[i][c], 0)));
  return { corner, face, edge, inverse, middle, cross, dot };
})();

class Geodesic {
  constructor(R) {
    this.R = R;
    this.count = 10 * R * R + 2;
    this.x = new Float32Array(3 * this.count);
    this.index = [];
    for (let f = 0; f < 20; f++)
      for (let j = 0; j <= R; j++)
        for (let i = 0; i + j <= R; i++) {
          this.put(f, i, j);
          if (i + j < R) this.index.push(this.node(f, i, j), this.node(f, i + 1, j), this.node(f, i, j + 1));
          if (i + j + 2 <= R)
            this.index.push(this.node(f, i + 1, j), this.node(f, i + 1, j + 1), this.node(f, i, j + 1));
        }
  }
  node(f, i, j) {
    const R = this.R, [a, b, c] = ICO.face[f];
    const onEdge = (p, q, k) => {
      const e = ICO.edge.get(p * 12 + q);
      return e !== undefined ? 12 + e * (R - 1) + k - 1 : 12 + ICO.edge.get(q * 12 + p) * (R - 1) + R - k - 1;
    };
    if (i === 0 && j === 0) return a;
    if (i === R) return b;
    if (j === R) return c;
    if (j === 0) return onEdge(a, b, i);
    if (i === 0) return onEdge(a, c, j);
    if (i + j === R) return onEdge(b, c, j);
    const inside = (j - 1) * (R - 1) - (j * (j - 1)) / 2 + i - 1;
    return 12 + 30 * (R - 1) + (f * (R - 1) * (R - 2)) / 2 + inside;
  }
  put(f, i, j) {
    const [a, b, c] = ICO.face[f].map((k) => ICO.corner[k]), at = 3 * this.node(f, i, j);
    const x = [0, 1, 2].map((k) => (this.R - i - j) * a[k] + i * b[k] + j * c[k]);
    const length = Math.hypot(...x);
    for (let k = 0; k < 3; k++) this.x[at + k] = x[k] / length;
  }
  /* The three nodes about a direction and their weights, which sum to 1. */
  locate(x, y, z) {
    let f = 0, best = -Infinity;
    ICO.middle.forEach((m, k) => {
      const d = m[0] * x + m[1] * y + m[2] * z;
      if (d > best) [best, f] = [d, k];
    });
    let [p, q, r] = ICO.inverse[f].map((row) => Math.max(0, row[0] * x + row[1] * y + row[2] * z));
    const R = this.R, sum = p + q + r, s = (R * q) / sum, t = (R * r) / sum;
    let i = Math.min(R - 1, Math.floor(s)), j = Math.min(R - 1, Math.floor(t));
    if (i + j > R - 1) i > 0 ? i-- : j--;
    let u = s - i, v = t - j;
    if (u + v <= 1 || i + j === R - 1) {
      const over = Math.max(1, u + v); // rounding may have left the face
      [u, v] = [u / over, v / over];
      return { node: [this.node(f, i, j), this.node(f, i + 1, j), this.node(f, i, j + 1)], weight: [1 - u - v, u, v] };
    }
    return {
      node: [this.node(f, i + 1, j + 1), this.node(f, i, j + 1), this.node(f, i + 1, j)],
      weight: [u + v - 1, 1 - u, 1 - v],
    };
  }
  /* A third of each spherical triangle about a node; their sum is 4 pi. */
  weights() {
    const weight = new Float64Array(this.count), at = (k) => this.x.subarray(3 * k, 3 * k + 3);
    for (let k = 0; k < this.index.length; k += 3) {
      const corners = this.index.slice(k, k + 3), [a, b, c] = corners.map(at);
      const det = ICO.dot(a, ICO.cross(b, c));
      const area = 2 * Math.atan2(det, 1 + ICO.dot(a, b) + ICO.dot(b, c) + ICO.dot(c, a));
      for (const i of corners) weight[i] += area / 3;
    }
    return weight;
  }
}
