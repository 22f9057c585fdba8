/* colour.js - from a density to a colour, and numbers as text.
 *
 * A scale runs from 0 to the largest value of its map, or, logarithmic, over the DECADES below it. Values are kept as
 * logs: t(log f) is the place on the scale, 0 to 1. */

const DECADES = 4;
const COLOURS = Uint8Array.from({ length: 768 }, (_, i) => parseInt(head.colours.slice(2 * i, 2 * i + 2), 16));

class Scale {
  constructor(top, isLog) {
    this.top = top;
    this.isLog = isLog;
    this.span = DECADES * Math.LN10;
  }
  place(logValue) {
    const d = logValue - this.top;
    return Math.min(1, Math.max(0, this.isLog ? 1 + d / this.span : Math.exp(d)));
  }
  logValue(place) {
    return this.top + (this.isLog ? (place - 1) * this.span : Math.log(place));
  }
  /* Ticks: { place, value }, value = exp(shift) times the density. */
  ticks(shift) {
    const most = Math.exp(this.top + shift), list = [];
    if (this.isLog) {
      const first = Math.ceil(Math.log10(most) - DECADES - 1e-9), last = Math.floor(Math.log10(most) + 1e-9);
      for (let e = first; e <= last; e++) list.push(10 ** e);
    } else {
      const raw = most / 6, power = 10 ** Math.floor(Math.log10(raw));
      const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
      for (let k = 0; k * step <= most * (1 + 1e-9); k++) list.push(k * step);
    }
    return list.map((value) => ({ value, place: value === 0 ? 0 : this.place(Math.log(value) - shift) }));
  }
}

function cssColour(place) {
  const i = 3 * Math.round(255 * place);
  return `rgb(${COLOURS[i]} ${COLOURS[i + 1]} ${COLOURS[i + 2]})`;
}

const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/* Three digits, as a person would write them. */
function words(value, digits = 3) {
  if (!(value > 0)) return value === 0 ? "0" : value < 0 ? "−" + words(-value, digits) : "–";
  const e = Math.floor(Math.log10(value) + 1e-9);
  if (e >= -3 && e < 5) return String(Number(value.toPrecision(digits)));
  const mantissa = Number((value / 10 ** e).toPrecision(digits));
  const raised = [...String(e)].map((c) => SUPERSCRIPT[c]).join("");
  return (mantissa === 1 ? "" : mantissa + "·") + "10" + raised;
}
const percent = (share) => (share >= 0.0995 ? Math.round(100 * share) : words(100 * share, 2)) + " %";
const count = (n) => n.toLocaleString("en-US");
const cssVariable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
