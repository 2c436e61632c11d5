// Numbers as text. A label says what its number is at any size: 1e-12 is not "0", and nothing is ever "-0".

const MINUS = "\u2212";
const raised = (n) => String(n).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]));

/** A power of ten with its factor: 1.5×10⁻¹²; the factor 1 is left out. */
function scientific(value, digits) {
  const [factor, exponent] = Math.abs(value).toExponential(digits).split("e");
  const power = `10${raised(Number(exponent))}`;
  return (value < 0 ? MINUS : "") + (Number(factor) === 1 && digits === 0 ? power : `${factor}×${power}`);
}

/** How many decimals it takes to write a gap between ticks: 0.25 takes two. */
function decimals(gap) {
  for (let d = Math.max(0, -Math.floor(Math.log10(gap) + 1e-9)); d < 20; d += 1)
    if (Math.abs(gap * 10 ** d - Math.round(gap * 10 ** d)) < 1e-6) return d;
  return 20;
}

/** Labels of evenly spaced ticks: as many digits as their spacing needs, one form for all of them. */
export function tickLabels(values) {
  const shown = values.filter((v) => v != null);
  const size = Math.max(...shown.map(Math.abs), 0);
  const gap = shown.length > 1 ? Math.abs(shown[1] - shown[0]) : size;
  const unit = 10 ** Math.floor(Math.log10(gap || 1) + 1e-9),
    extra = decimals((gap || 1) / unit);
  const small = size < 1e-3 || size >= 1e5;
  return values.map((v) => {
    if (v == null) return null;
    if (Math.abs(v) <= 1e-6 * gap) return "0";
    if (!small) return v.toFixed(Math.min(20, decimals(gap || 1))).replace("-", MINUS);
    const lead = Math.floor(Math.log10(Math.abs(v)) + 1e-9);
    return scientific(v, Math.max(0, Math.min(8, lead - Math.round(Math.log10(unit)) + extra)));
  });
}

/** One number, to so many significant digits. */
export function number(value, digits = 3) {
  if (value == null || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) {
    const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    return value.toFixed(decimals).replace("-", MINUS);
  }
  return scientific(value, digits - 1);
}

/** A time on a clock whose digits do not jump: so many decimals that a thousandth of the span shows. */
export function clock(time, span) {
  const decimals = span > 0 ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(span)))) : 3;
  return time.toFixed(decimals).replace(/^-/, MINUS);
}

/** A name with its unit in brackets, where the unit is known. */
export const withUnit = (name, unit) => (unit ? `${name} [${unit}]` : name);

const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
const padded = (exponent) => `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;

/** A number to so many digits, without zeros at the end: %g of Python and C. */
export function spell(value, digits = 6) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const [factor, exponent] = value.toExponential(digits - 1).split("e"),
    e = Number(exponent);
  return e < -4 || e >= digits ? trimmed(factor) + padded(e) : trimmed(value.toFixed(digits - 1 - e));
}

/** A number in all its digits, as Python writes it. */
export function python(value) {
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e16)) {
    const [factor, exponent] = value.toExponential().split("e");
    return factor + padded(Number(exponent));
  }
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
