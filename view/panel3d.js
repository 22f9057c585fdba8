/* panel3d.js - a shape of triangles with a density on it, to turn, click and hover; by three.js.
 *
 * The vertices carry log f; the colour is found for every pixel, so that a peak between vertices is not washed out. A
 * globe turns with its poles upright, any other shape about the screen's axes. Frames are drawn when something changed. */

const SURFACE_VERTEX = `
attribute float logf;
varying float v_log;
varying vec3 v_normal;
void main() {
  v_log = logf;
  v_normal = normalize(normalMatrix * normal);
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const SURFACE_FRAGMENT = `
uniform sampler2D colours;
uniform float top, span, threshold, relief;
uniform bool is_log;
uniform vec3 hidden;
varying float v_log;
varying vec3 v_normal;
void main() {
  float d = v_log - top;
  float t = clamp(is_log ? 1.0 + d / span : exp(d), 0.0, 1.0);
  vec3 c = t < threshold ? hidden : texture2D(colours, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  vec3 n = normalize(v_normal);
  n = n.z < 0.0 ? -n : n;
  float light = max(dot(n, vec3(-0.28, 0.42, 0.863)), 0.0); // from above the viewer's left shoulder
  c = c * (1.0 - relief * (1.0 - light)) + 0.16 * relief * pow(light, 5.0);
  gl_FragColor = vec4(c, 1.0);
}`;
const DOT_VERTEX = `
uniform float size, lift;
uniform bool globe;
void main() {
  vec4 seen = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * seen;
  if (globe && dot(normalMatrix * position, seen.xyz) > -0.02 * length(seen.xyz))
    gl_Position.x = 2.0 * gl_Position.w; // behind the horizon
  gl_Position.z -= lift * gl_Position.w;
  gl_PointSize = size;
}`;
const DOT_FRAGMENT = `
uniform bool ring;
uniform float opacity;
void main() {
  float r = 2.0 * length(gl_PointCoord - 0.5);
  if (r > 1.0) discard;
  if (ring) {
    if (r < 0.42) discard;
    gl_FragColor = vec4(vec3(r > 0.55 && r < 0.86 ? 1.0 : 0.07), opacity);
  } else {
    gl_FragColor = vec4(vec3(r < 0.66 ? 1.0 : 0.07), 0.8 * opacity);
  }
}`;

const FIELD_OF_VIEW = 26;

class Panel3D {
  /* normals: "radial", "mesh" or an array. */
  constructor(stage, shape, { turntable, normals, relief, fit = 1.06 }) {
    Object.assign(this, { stage, shape, turntable, fit });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "application");
    stage.append(this.canvas);
    this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 100);
    this.group = new THREE.Group();
    this.scene.add(this.group);
    this.tip = new Tip(stage);
    const cross = document.createElement("div");
    cross.className = "cross";
    stage.append(cross);
    this.buildSurface(normals, relief);
    this.buildDots(normals);
    this.home();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(stage);
  }

  /* ---- what is drawn ---- */

  buildSurface(normals, relief) {
    const g = new THREE.BufferGeometry(), n = this.shape.position.length / 3;
    g.setAttribute("position", new THREE.BufferAttribute(this.shape.position, 3));
    g.setAttribute("logf", new THREE.BufferAttribute(new Float32Array(n), 1));
    g.setIndex(new THREE.BufferAttribute(Uint32Array.from(this.shape.index), 1));
    if (normals === "radial") g.setAttribute("normal", g.getAttribute("position"));
    else if (normals === "mesh") g.computeVertexNormals();
    else g.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
    g.computeBoundingBox();
    this.centre = g.boundingBox.getCenter(new THREE.Vector3());
    this.radius = 0;
    for (let i = 0; i < n; i++)
      this.radius = Math.max(this.radius, this.centre.distanceTo(new THREE.Vector3().fromArray(this.shape.position, 3 * i)));
    const rgba = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : COLOURS[3 * (i >> 2) + (i % 4)]));
    const colours = new THREE.DataTexture(rgba, 256, 1);
    colours.minFilter = colours.magFilter = THREE.LinearFilter;
    colours.needsUpdate = true;
    this.material = new THREE.ShaderMaterial({
      vertexShader: SURFACE_VERTEX,
      fragmentShader: SURFACE_FRAGMENT,
      side: THREE.DoubleSide,
      uniforms: {
        colours: { value: colours }, top: { value: 0 }, span: { value: 1 }, threshold: { value: 0 },
        relief: { value: relief }, is_log: { value: false }, hidden: { value: new THREE.Vector3() },
      },
    });
    this.surface = new THREE.Mesh(g, this.material);
    this.surface.position.copy(this.centre).negate();
    this.group.add(this.surface);
    if (this.turntable) this.buildGraticule();
  }

  /* Parallels and meridians, every 30 degrees. */
  buildGraticule() {
    const at = [], r = 1.003, step = Math.PI / 90;
    const put = (lat, lon) => at.push(r * Math.cos(lat) * Math.cos(lon), r * Math.cos(lat) * Math.sin(lon), r * Math.sin(lat));
    for (let k = -2; k <= 2; k++)
      for (let lon = 0; lon < 2 * Math.PI - 1e-9; lon += step) {
        put((k * Math.PI) / 6, lon);
        put((k * Math.PI) / 6, lon + step);
      }
    for (let k = 0; k < 12; k++)
      for (let lat = -Math.PI / 2; lat < Math.PI / 2 - 1e-9; lat += step) {
        put(lat, (k * Math.PI) / 6);
        put(lat + step, (k * Math.PI) / 6);
      }
    const g = new THREE.BufferGeometry();
    g.setAttribute("position", new THREE.BufferAttribute(new Float32Array(at), 3));
    this.graticule = new THREE.LineSegments(
      g,
      new THREE.LineBasicMaterial({ color: 0xffffff, transparent: true, opacity: 0.22, depthWrite: false }),
    );
    this.group.add(this.graticule);
  }

  buildDots(normals) {
    const make = (size, ring, lift) => {
      const dots = new THREE.Points(
        new THREE.BufferGeometry(),
        new THREE.ShaderMaterial({
          vertexShader: DOT_VERTEX,
          fragmentShader: DOT_FRAGMENT,
          uniforms: { size: { value: size * this.renderer.getPixelRatio() }, ring: { value: ring }, lift: { value: lift }, globe: { value: this.turntable }, opacity: { value: 1 } },
          transparent: true,
          depthWrite: false,
        }),
      );
      dots.visible = false;
      dots.frustumCulled = false;
      dots.position.copy(this.surface.position);
      this.group.add(dots);
      return dots;
    };
    this.dots = make(4, false, normals === "mesh" ? 0.003 : 0);
    this.marker = make(20, true, 0.03);
    this.ghost = make(20, true, 0.03); // the same through what hides it
    Object.assign(this.ghost.material, { depthTest: false });
    this.ghost.material.uniforms.opacity.value = 0.4;
  }

  setField(nodeLogs) {
    this.nodeLogs = nodeLogs;
    this.logs = this.shape.fill(nodeLogs);
    const attribute = this.surface.geometry.getAttribute("logf");
    attribute.array.set(this.logs);
    attribute.needsUpdate = true;
    this.draw();
  }
  setScale(scale, threshold) {
    const u = this.material.uniforms;
    u.top.value = scale.top;
    u.span.value = scale.span;
    u.is_log.value = scale.isLog;
    u.threshold.value = threshold;
    this.draw();
  }
  setDots(xyz) {
    const few = Math.min(1, 1500 / ((xyz ? xyz.length / 3 : 0) + 1)); // many are drawn smaller
    this.dots.material.uniforms.size.value = (2.6 + 1.6 * few) * this.renderer.getPixelRatio();
    this.dots.scale.setScalar(this.turntable ? 1.004 : 1); // just above a globe
    this.place(this.dots, xyz);
  }
  setMarker(xyz) {
    this.place(this.marker, xyz && Float32Array.from(xyz));
    if (!this.turntable) this.place(this.ghost, xyz && Float32Array.from(xyz));
  }
  place(dots, xyz) {
    dots.visible = Boolean(xyz && xyz.length);
    if (dots.visible) {
      dots.geometry.dispose();
      dots.geometry = new THREE.BufferGeometry();
      dots.geometry.setAttribute("position", new THREE.BufferAttribute(xyz, 3));
    }
    this.draw();
  }
  theme() {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(cssVariable("--hidden").slice(i, i + 2), 16) / 255);
    this.material.uniforms.hidden.value.set(r, g, b);
    this.draw();
  }

  /* ---- how it is seen ---- */

  /* Data x towards the viewer, z up; then east and north of it. */
  turned(yaw, pitch) {
    const base = new THREE.Quaternion().setFromRotationMatrix(
      new THREE.Matrix4().set(0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1),
    );
    const about = (x, y, z, angle) => new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(x, y, z), angle);
    return about(1, 0, 0, pitch).multiply(base).multiply(about(0, 0, 1, -yaw));
  }
  home() {
    this.zoom = 1;
    this.look(this.homeYaw || 0, this.homePitch || 0);
  }
  /* From this side: longitude and latitude of the viewer. */
  look(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = pitch;
    this.group.quaternion.copy(this.turned(yaw, pitch));
    this.draw();
  }
  turn(dx, dy) { // radians
    if (this.turntable) {
      this.look(this.yaw - dx, Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.pitch + dy)));
    } else {
      const q = new THREE.Quaternion().setFromEuler(new THREE.Euler(dy, dx, 0));
      this.group.quaternion.premultiply(q);
      this.draw();
    }
    this.onTurn?.();
  }
  follow(other) {
    this.yaw = other.yaw;
    this.pitch = other.pitch;
    this.zoom = other.zoom;
    this.group.quaternion.copy(other.group.quaternion);
    this.draw();
  }
  magnify(factor) {
    this.zoom = Math.min(12, Math.max(0.6, this.zoom * factor));
    this.draw();
    this.onTurn?.();
  }
  frame() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (width < 2 || height < 2) return false;
    this.renderer.setSize(width, height, false);
    const camera = this.camera, half = (Math.PI / 360) * FIELD_OF_VIEW;
    camera.aspect = width / height;
    const narrow = Math.min(1, camera.aspect);
    const distance = (this.fit * this.radius) / Math.sin(Math.atan(Math.tan(half) * narrow));
    camera.position.set(0, 0, distance);
    camera.near = Math.max(distance - 1.5 * this.radius, distance * 0.05);
    camera.far = distance + 1.5 * this.radius;
    camera.zoom = this.zoom;
    camera.updateProjectionMatrix();
    return true;
  }
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => this.drawNow());
  }
  drawNow() {
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    if (this.frame()) this.renderer.render(this.scene, this.camera);
  }

  /* ---- what is pointed at ---- */

  /* { corner, weight, x } of the nearest triangle under a pixel, or null. */
  hit(px, py) {
    const { width, height } = this.stage.getBoundingClientRect();
    if (!this.frame()) return null;
    this.scene.updateMatrixWorld(true);
    this.camera.updateMatrixWorld(true);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * px) / width - 1, 1 - (2 * py) / height), this.camera);
    const found = ray.intersectObject(this.surface, false)[0];
    if (!found) return null;
    const { a, b, c } = found.face, corner = [a, b, c];
    const local = this.surface.worldToLocal(found.point.clone());
    const at = corner.map((k) => new THREE.Vector3().fromArray(this.shape.position, 3 * k));
    const w = THREE.Triangle.getBarycoord(local, at[0], at[1], at[2], new THREE.Vector3());
    return w && { corner, weight: [w.x, w.y, w.z] };
  }
  /* log f there, as it is drawn. */
  logAt(hit) {
    return hit.corner.reduce((sum, k, i) => sum + hit.weight[i] * this.logs[k], 0);
  }
  listen() {
    const speed = () => (0.0085 * 400) / this.stage.clientHeight / this.zoom;
    const point = (x, y) => {
      const hit = this.hit(x, y);
      if (hit) this.onPick?.(hit);
    };
    watchPointers(this.canvas, {
      drag: (dx, dy) => this.turn(dx * speed(), dy * speed()),
      zoom: (factor) => this.magnify(factor),
      click: point,
      hover: (x, y) => {
        const hit = this.hit(x, y), lines = hit && this.onHover?.(hit);
        lines ? this.tip.show(x, y, lines) : this.tip.hide();
      },
      leave: () => this.tip.hide(),
    });
    const step = (shift) => (shift ? 1 : 6) * (Math.PI / 180);
    /* Where the middle is empty, as the hole of a torus, what lies nearest to it, below before above. */
    const middle = () => {
      const x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2;
      for (let ring = 0; ring <= 12; ring++)
        for (let k = 0; k < (ring ? 8 : 1); k++) {
          const turn = Math.PI / 2 + (k % 2 ? -1 : 1) * Math.ceil(k / 2) * (Math.PI / 4), r = (ring / 24) * 2 * y;
          const hit = this.hit(x + r * Math.cos(turn), y + r * Math.sin(turn));
          if (hit) return this.onPick?.(hit);
        }
    };
    watchKeys(this.canvas, {
      ArrowLeft: (s) => this.turn(step(s), 0),
      ArrowRight: (s) => this.turn(-step(s), 0),
      ArrowUp: (s) => this.turn(0, step(s)),
      ArrowDown: (s) => this.turn(0, -step(s)),
      "+": () => this.magnify(1.2),
      "=": () => this.magnify(1.2),
      "-": () => this.magnify(1 / 1.2),
      Home: () => {
        this.home();
        this.onTurn?.();
      },
      Enter: middle,
      " ": middle,
    });
  }
}
