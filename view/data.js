/* data.js - what the program put into this page: a head in JSON, and arrays that are deflated and in base 64.
 *
 * src/view/contents.c says what there is; src/view/pack.c how numbers are packed. */

const head = JSON.parse(document.getElementById("head").textContent);

/* The bytes of one array, or null where there is none of that name. */
async function inflated(name) {
  const element = document.getElementById(name);
  if (!element) return null;
  const packed = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Undoes planes of bytes, numbers without a sign, and what neighbours foretold: levels of rows x columns. */
function unpackLevels(bytes, rows, columns) {
  const n = rows * columns, level = new Uint16Array(n);
  for (let i = 0, k = 0; i < rows; i++)
    for (let j = 0; j < columns; j++, k++) {
      const u = bytes[k] | (bytes[n + k] << 8), difference = u & 1 ? -((u + 1) >> 1) : u >> 1;
      const left = j > 0 ? level[k - 1] : 0, above = i > 0 ? level[k - columns] : 0;
      level[k] = difference + left + above - (i > 0 && j > 0 ? level[k - columns - 1] : 0); // modulo 2^16
    }
  return level;
}

/* Whole numbers, each kept as its difference to the one before. */
function unpackIntegers(bytes) {
  const n = bytes.length / 4, number = new Int32Array(n);
  for (let i = 0, last = 0; i < n; i++) {
    last = (last + (bytes[i] | (bytes[n + i] << 8) | (bytes[2 * n + i] << 16) | (bytes[3 * n + i] << 24))) | 0;
    number[i] = last;
  }
  return number;
}

/* Shares of a box (low, high), one coordinate after the other, as x y z. */
function unpackPlaces(bytes, box) {
  const n = bytes.length / 6, share = unpackLevels(bytes, 1, 3 * n), x = new Float32Array(3 * n);
  for (let i = 0; i < n; i++)
    for (let c = 0; c < 3; c++) x[3 * i + c] = box[c] + ((box[3 + c] - box[c]) * share[c * n + i]) / 65535;
  return x;
}

const UNIT_BOX = [-1, -1, -1, 1, 1, 1];

/* Everything of one factor: nodes with their weights come later, from its kind. */
async function readFactor(number) {
  const f = { ...head.factors[number], number }, k = number + 1;
  const some = async (name, read) => {
    const bytes = await inflated(name + k);
    return bytes && read(bytes);
  };
  f.nodeVertex = await some("nodes", unpackIntegers);
  f.position = await some("vertex", (b) => unpackPlaces(b, f.box));
  f.index = await some("face", unpackIntegers);
  f.direction = await some("sphere", (b) => unpackPlaces(b, UNIT_BOX));
  f.points = await some("points", (b) => {
    if (f.kind === "S1")
      return Float32Array.from(unpackLevels(b, 1, b.length / 2), (share) => (share * 2 * Math.PI) / 65536);
    return unpackPlaces(b, f.kind === "mesh" ? f.box : UNIT_BOX);
  });
  f.places = (await some("places", (b) => unpackPlaces(b, f.box))) || f.points;
  return f;
}

/* log f at nodes, (nodes of factor 1, nodes of factor 2 or 1). */
async function readValues() {
  const bytes = await inflated("values"), n = bytes.length / 2;
  const pair = head.factors.length === 2;
  const level = unpackLevels(bytes, pair ? head.factors[0].nodes : 1, pair ? head.factors[1].nodes : n);
  return Float32Array.from(level, (q) => head.top - head.step * q);
}
