/* orbit.js - pointers on a canvas: drag, pinch, wheel, click and hover, for mouse, pen and fingers alike. */

const STILL = 5; // pixels within which a press is a click

/* on: { drag(dx, dy), zoom(factor), click(x, y), hover(x, y), leave() }, in pixels of the canvas; all but click may be
 * missing. */
function watchPointers(canvas, on) {
  const down = new Map();
  let moved = 0, spread = 0;
  const local = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const distance = () => {
    const [a, b] = [...down.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, local(e));
    moved = down.size > 1 ? Infinity : 0; // two fingers never click
    spread = down.size === 2 ? distance() : 0;
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (e) => {
    const at = local(e), before = down.get(e.pointerId);
    if (!before) return on.hover?.(...at);
    down.set(e.pointerId, at);
    if (down.size === 2) {
      const now = distance();
      if (spread > 0) on.zoom?.(now / spread);
      spread = now;
      return;
    }
    moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (moved > STILL) {
      canvas.classList.add("turning");
      on.leave?.();
      on.drag?.(at[0] - before[0], at[1] - before[1], ...at);
    }
  });
  const release = (e) => {
    const was = down.delete(e.pointerId);
    canvas.classList.remove("turning");
    if (was && e.type === "pointerup" && moved <= STILL) on.click(...local(e));
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => on.leave?.());
  if (on.zoom)
    canvas.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        on.zoom(Math.exp(-0.0015 * e.deltaY));
      },
      { passive: false },
    );
}

/* Keys of a canvas that has the focus: a table from KeyboardEvent.key to what it does. */
function watchKeys(canvas, keys) {
  canvas.tabIndex = 0;
  canvas.addEventListener("keydown", (e) => {
    const act = keys[e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    act(e.shiftKey);
  });
}

/* The few words beside the pointer. */
class Tip {
  constructor(stage) {
    this.element = document.createElement("div");
    this.element.className = "tip";
    stage.append(this.element);
    this.stage = stage;
  }
  show(x, y, lines) {
    const tip = this.element;
    tip.replaceChildren(...lines.flatMap((line, i) => (i ? [document.createElement("br"), line] : [line])));
    tip.style.visibility = "visible";
    const room = this.stage.getBoundingClientRect(), right = x + 16 + tip.offsetWidth > room.width;
    tip.style.left = Math.max(0, right ? x - 16 - tip.offsetWidth : x + 16) + "px";
    tip.style.top = Math.max(0, Math.min(room.height - tip.offsetHeight, y - tip.offsetHeight / 2)) + "px";
  }
  hide() {
    this.element.style.visibility = "hidden";
  }
}
