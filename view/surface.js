/* surface.js - what a factor is drawn on: triangles, with a value at every vertex made of the values at the nodes.
 *
 * A shape has position and index, fill(logs at nodes) -> logs at vertices, and tell(hit) -> { node, words }.
 * Between nodes log f is interpolated: linearly on the triangles of a sphere or torus; on a thinned mesh by the function
 * that has the nodes' values and at every other vertex the mean of its neighbours, the nearer counting for more. */

/* The angle of a circle's node, and how people read angles. */
const degrees = (radians) => (radians * 180) / Math.PI;
function angleWords(x) {
  return head.coords & 2 ? degrees(x).toFixed(1) + "°" : x.toFixed(3) + " rad";
}
function directionWords([x, y, z]) {
  if (!(head.coords & 1)) return "(" + [x, y, z].map((c) => c.toFixed(3).replace("-", "−")).join(", ") + ")";
  const lat = degrees(Math.atan2(z, Math.hypot(x, y))), lon = degrees(Math.atan2(y, x));
  const words = (angle, below, above) => { // what rounds to zero is on neither side
    const digits = Math.abs(angle).toFixed(1);
    return digits + "°" + (Number(digits) === 0 ? "" : angle < 0 ? below : above);
  };
  return words(lat, " S", " N") + ", " + words(lon, " W", " E");
}
function positionWords(x) {
  return "(" + [...x].map((c) => c.toFixed(1).replace("-", "−")).join(", ") + ")";
}

/* Sum of three corners' rows of an array of width 3. */
function mix3(x, corner, weight) {
  return [0, 1, 2].map((c) => corner.reduce((sum, k, i) => sum + weight[i] * x[3 * k + c], 0));
}
const heaviest = ({ node, weight }) => node[weight.indexOf(Math.max(...weight))];

/* Nodes on the sphere, drawn on a globe or, vertex by vertex, on a surface. */
class SphereShape {
  constructor(factor) {
    this.grid = new Geodesic(factor.resolution);
    this.weight = this.grid.weights();
    this.globe = !factor.position;
    if (this.globe) {
      const fine = factor.resolution * Math.max(1, Math.floor(60 / factor.resolution)), drawn = new Geodesic(fine);
      this.position = drawn.x;
      this.index = drawn.index;
    } else {
      this.position = factor.position;
      this.index = factor.index;
    }
    this.direction = factor.direction || this.position;
    const n = this.direction.length / 3;
    this.near = new Int32Array(3 * n);
    this.share = new Float32Array(3 * n);
    for (let i = 0; i < n; i++) {
      const at = this.grid.locate(...this.direction.subarray(3 * i, 3 * i + 3));
      this.near.set(at.node, 3 * i);
      this.share.set(at.weight, 3 * i);
    }
  }
  fill(log) {
    const n = this.position.length / 3, out = new Float32Array(n);
    for (let i = 0; i < 3 * n; i++) out[(i / 3) | 0] += this.share[i] * log[this.near[i]];
    return out;
  }
  nodePlace(node) {
    return [...this.grid.x.subarray(3 * node, 3 * node + 3)];
  }
  nodeWords(node) {
    return this.globe ? directionWords(this.nodePlace(node)) : positionWords(this.nodePosition(node));
  }
  /* Where a node stands on what is drawn. */
  nodePosition(node) {
    if (this.globe) return this.nodePlace(node);
    return [...this.position.subarray(3 * this.vertexNear(node), 3 * this.vertexNear(node) + 3)];
  }
  vertexNear(node) {
    const [x, y, z] = this.nodePlace(node);
    let best = 0, most = -2;
    for (let i = 0; i < this.direction.length / 3; i++) {
      const d = this.direction[3 * i] * x + this.direction[3 * i + 1] * y + this.direction[3 * i + 2] * z;
      if (d > most) [most, best] = [d, i];
    }
    return best;
  }
  tell(hit) {
    const x = mix3(this.direction, hit.corner, hit.weight), at = this.grid.locate(...x), r = Math.hypot(...x);
    const words = this.globe
      ? directionWords(x.map((c) => c / r))
      : positionWords(mix3(this.position, hit.corner, hit.weight));
    return { node: heaviest(at), words };
  }
}

/* Nodes are vertices of the mesh, all or some. */
class MeshShape {
  constructor(factor) {
    this.position = factor.position;
    this.index = factor.index;
    const n = this.position.length / 3;
    this.vertex = factor.nodeVertex || Int32Array.from({ length: n }, (_, i) => i);
    this.thinned = Boolean(factor.nodeVertex);
    this.connect(n);
    this.own(n);
  }
  /* Neighbours of every vertex, weighed by one over the length of the edge. In a closed surface each edge is run
   * through once each way. */
  connect(n) {
    const start = new Int32Array(n + 1), index = this.index, x = this.position;
    for (let k = 0; k < index.length; k++) start[index[k] + 1]++;
    for (let i = 0; i < n; i++) start[i + 1] += start[i];
    const next = new Int32Array(index.length), length = new Float32Array(index.length), room = start.slice();
    for (let k = 0; k < index.length; k++) {
      const a = index[k], b = index[k % 3 === 2 ? k - 2 : k + 1], at = room[a]++;
      next[at] = b;
      length[at] = Math.hypot(x[3 * a] - x[3 * b], x[3 * a + 1] - x[3 * b + 1], x[3 * a + 2] - x[3 * b + 2]) || 1e-9;
    }
    Object.assign(this, { start, next, length });
  }
  /* The nearest node of every vertex, along the edges, and the area that each node stands for. */
  own(n) {
    this.owner = new Int32Array(n).fill(-1);
    const distance = new Float64Array(n).fill(Infinity);
    let front = [];
    this.vertex.forEach((v, k) => {
      this.owner[v] = k;
      distance[v] = 0;
      front.push(v);
    });
    while (front.length) { // rounds of shortening; few are needed, since nodes are near
      const changed = new Set();
      for (const a of front)
        for (let k = this.start[a]; k < this.start[a + 1]; k++) {
          const b = this.next[k], d = distance[a] + this.length[k];
          if (d < distance[b]) {
            distance[b] = d;
            this.owner[b] = this.owner[a];
            changed.add(b);
          }
        }
      front = [...changed];
    }
    this.weight = new Float64Array(this.vertex.length);
    const x = this.position, p = (v, c) => x[3 * v + c];
    for (let k = 0; k < this.index.length; k += 3) {
      const [a, b, c] = this.index.subarray(k, k + 3);
      const u = [0, 1, 2].map((i) => p(b, i) - p(a, i)), w = [0, 1, 2].map((i) => p(c, i) - p(a, i));
      const area = Math.hypot(...ICO.cross(u, w)) / 2;
      for (const v of [a, b, c]) this.weight[this.owner[v]] += area / 3;
    }
  }
  fill(log) {
    const n = this.owner.length, out = Float32Array.from(this.owner, (k) => log[k]);
    if (!this.thinned) return out;
    const fixed = new Uint8Array(n);
    for (const v of this.vertex) fixed[v] = 1;
    const sweeps = 20 + Math.ceil(6 * Math.sqrt(n / this.vertex.length));
    for (let s = 0; s < sweeps; s++)
      for (let i = 0; i < n; i++) {
        if (fixed[i]) continue;
        let sum = 0, all = 0;
        for (let k = this.start[i]; k < this.start[i + 1]; k++) {
          sum += out[this.next[k]] / this.length[k];
          all += 1 / this.length[k];
        }
        out[i] += 1.4 * (sum / all - out[i]); // over-relaxed
      }
    return out;
  }
  nodePlace(node) {
    const v = this.vertex[node];
    return [...this.position.subarray(3 * v, 3 * v + 3)];
  }
  nodePosition(node) {
    return this.nodePlace(node);
  }
  nodeWords(node) {
    return positionWords(this.nodePlace(node));
  }
  tell(hit) {
    const most = hit.weight.indexOf(Math.max(...hit.weight));
    return { node: this.owner[hit.corner[most]], words: positionWords(mix3(this.position, hit.corner, hit.weight)) };
  }
}

class CircleShape {
  constructor(factor) {
    this.count = factor.nodes;
    this.weight = new Float64Array(this.count).fill((2 * Math.PI) / this.count);
  }
  nodePlace(node) {
    return [(2 * Math.PI * node) / this.count];
  }
  nodeWords(node) {
    return angleWords(this.nodePlace(node)[0]);
  }
  node(angle) {
    return Math.round(((((angle / (2 * Math.PI)) % 1) + 1) % 1) * this.count) % this.count;
  }
}

/* Both circles of T2: x1 runs around the ring, x2 around the tube. */
class TorusShape {
  constructor(a, b) {
    this.sides = [a.count, b.count];
    this.drawn = this.sides.map((n) => n * Math.ceil(120 / n)); // round also where nodes are few
    const [n, m] = this.drawn;
    this.position = new Float32Array(3 * (n + 1) * (m + 1));
    this.index = [];
    for (let i = 0, k = 0; i <= n; i++)
      for (let j = 0; j <= m; j++, k++) {
        this.position.set(this.place((2 * Math.PI * i) / n, (2 * Math.PI * j) / m), 3 * k);
        if (i < n && j < m) this.index.push(k, k + m + 1, k + 1, k + 1, k + m + 1, k + m + 2);
      }
  }
  place(x1, x2, lift = 0) {
    const tube = 0.44 + lift, ring = 1 + tube * Math.cos(x2);
    return [ring * Math.cos(x1), ring * Math.sin(x1), tube * Math.sin(x2)];
  }
  fill(log) {
    const [n, m] = this.sides, [p, q] = this.drawn, out = new Float32Array((p + 1) * (q + 1));
    for (let i = 0, k = 0; i <= p; i++)
      for (let j = 0; j <= q; j++, k++) {
        const s = (i * n) / p, t = (j * m) / q, a = Math.floor(s), b = Math.floor(t), u = s - a, v = t - b;
        const at = (c, d) => log[(c % n) * m + (d % m)];
        out[k] = (1 - u) * ((1 - v) * at(a, b) + v * at(a, b + 1)) + u * ((1 - v) * at(a + 1, b) + v * at(a + 1, b + 1));
      }
    return out;
  }
  angles(hit) {
    const [x, y, z] = mix3(this.position, hit.corner, hit.weight), turn = 2 * Math.PI;
    const x1 = (Math.atan2(y, x) + turn) % turn, x2 = (Math.atan2(z, Math.hypot(x, y) - 1) + turn) % turn;
    return [x1, x2];
  }
}
