// What the page asks for, checked field by field before any work; the sentences are those of the library.

import { rotate } from "./data.js";
import { python, spell } from "./format.js";

export class Refused extends Error {
  /** @param {object} fields a sentence for each field that is wrong */
  constructor(fields) {
    super(Object.values(fields).join("; "));
    this.fields = fields;
  }
}

class Wrong extends Error {}

const NAMES = {
  box: ["edge a", "edge b", "edge c"],
  ellipsoid: ["semi-axis a", "semi-axis b", "semi-axis c"],
  moments: ["J₁", "J₂", "J₃"],
};
const SHAPES = { box: ["size", 12], ellipsoid: ["semi_axes", 5] }; // of 1 kg: the moments are (b² + c²) / 12 ...

/** The request in numbers: problem, starts, methods, weight, damping, step and span; or Refused. */
export function checked(asked, catalogue) {
  const good = {},
    wrong = {};
  const readers = {
    problem: (name) => here("problem", name, catalogue.problems),
    body: (value) => body(value, catalogue),
    omega0,
    tilt,
    weight: (value) => number("the weight", value, "N m"),
    damping: (value) => number("the damping", value, "N m s"),
    second: (value) => value && { body: body(value.body, catalogue), omega0: omega0(value.omega0), tilt: tilt(value.tilt) },
    method: (name) => here("method", name, catalogue.methods),
    compare: (name) => name && here("method", name, catalogue.methods),
    step: (value) => number("the step", value, "seconds", true),
    span: (value) => number("the span", value, "seconds", true),
  };
  for (const [field, read] of Object.entries(readers)) {
    try {
      good[field] = read(asked[field]);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      wrong[field] = error.message;
    }
  }
  for (const field of ["weight", "damping"])
    if (good.problem?.thrown && good[field]) wrong[field] = `a thrown body has no ${field} on this page; give 0, or use \`polhode play\``;
  if (!wrong.step && !wrong.span) Object.assign(wrong, tooMuch(good.step, good.span, catalogue.limits.steps));
  if (Object.keys(wrong).length) throw new Refused(wrong);
  const { problem, second, method: first, compare, weight, damping, step, span } = good;
  const starts = [good, ...(second ? [second] : [])].map((one) => ({
    body: one.body,
    omega0: one.omega0,
    rotation0: tilted(problem, (one.tilt * Math.PI) / 180),
  }));
  return { problem, starts, methods: [first, ...(compare ? [compare] : [])], weight, damping, step, span };
}

/** An entry of a list that the page can compute. */
function here(kind, name, list) {
  const found = list.find((one) => one.name === name);
  if (!found) throw new Wrong(`unknown ${kind} '${name}'; choose one from the list`);
  if (found.obstacle) throw new Wrong(`${name} is not on this page: ${found.obstacle}; \`polhode play\` has it`);
  return found;
}

function number(what, value, unit, positive = false) {
  if (typeof value !== "number") throw new Wrong(`${what} is missing; give a number of ${unit}`);
  if (positive && !(value > 0)) throw new Wrong(`${what} must be positive, got ${python(value)}; give a value above zero`);
  if (value < 0) throw new Wrong(`${what} must not be negative, got ${spell(value)}; give 0 or more ${unit}`);
  return value;
}

function tilt(value) {
  const angle = number("the tilt", value, "degrees");
  if (angle > 180) throw new Wrong(`the tilt must be at most 180 degrees, got ${spell(angle)}; give a smaller one`);
  return angle;
}

function filled(values, names) {
  const missing = names.filter((_, i) => typeof values[i] !== "number");
  if (missing.length) throw new Wrong(`${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing; give a number`);
  return values;
}

const omega0 = (values) => filled(values, ["Ω₁", "Ω₂", "Ω₃"]);

function body({ kind, values, unphysical }, { limits }) {
  filled(values, NAMES[kind]);
  const low = values.findIndex((x) => !(x > 0));
  if (low >= 0) throw new Wrong(`${NAMES[kind][low]} must be positive, got ${python(values[low])}; give a value above zero`);
  const [name, factor] = SHAPES[kind] ?? [],
    [a, b, c] = values.map((x) => x * x),
    moments = name ? [b + c, c + a, a + b].map((x) => (1 / factor) * x) : values;
  const excess = unphysical ? "" : triangle(moments);
  if (excess) throw new Wrong(`moments (${moments.map((x) => spell(x, 15)).join(", ")}): ${excess}, which violates the triangle inequality: no body has these`);
  const [least, most] = [Math.min(...moments), Math.max(...moments)];
  if (most > limits.apart * least)
    throw new Wrong(
      `the moments of inertia reach from ${spell(least, 2)} to ${spell(most, 2)} kg m², and the playground takes bodies whose ` +
        `largest is at most ${spell(limits.apart)} times the smallest; bring ${NAMES[kind].join(", ")} closer together`,
    );
  return { kind, values, unphysical: kind === "moments" && Boolean(unphysical), moments, shape: name ? { kind, [name]: values } : null };
}

/** "I2 = 10 > I1 + I3 = 6", or "". */
function triangle(moments) {
  const i = moments.indexOf(Math.max(...moments)),
    [j, k] = [0, 1, 2].filter((n) => n !== i),
    sum = moments[j] + moments[k];
  if (moments[i] - sum <= 1e-12 * moments[i]) return "";
  return `I${i + 1} = ${spell(moments[i], 15)} > I${j + 1} + I${k + 1} = ${spell(sum, 15)}`;
}

function tooMuch(step, span, most) {
  const steps = span / step;
  if (steps < 1 - 1e-9) return { step: `the step ${spell(step)} s is longer than the span of ${spell(span)} s; use a smaller one` };
  if (steps <= most) return {};
  const shortest = span / most,
    [field, longer] = shortest > 1 ? ["span", "a longer step"] : ["step", `a step of ${spell(shortest, 2)} s or more`];
  return {
    [field]:
      `${spell(span)} s in steps of ${spell(step)} s are ${spell(steps, 3)} steps, and the playground takes at most ${most}; ` +
      `shorten the span to ${spell(most * step, 3)} s or less, or use ${longer}`,
  };
}

/** The attitude at the start with another tilt, about the same horizontal axis; about the first axis if the problem begins upright. */
function tilted({ rotation0, tilt: given }, angle) {
  const change = angle - (given * Math.PI) / 180;
  if (Math.abs(change) < 1e-12) return rotation0;
  const [x, y] = rotate(rotation0, [0, 0, 1]),
    length = Math.hypot(x, y),
    about = length > 1e-12 ? [-y / length, x / length] : [1, 0];
  const s = Math.sin(change / 2);
  return product([s * about[0], s * about[1], 0, Math.cos(change / 2)], rotation0);
}

function product([a, b, c, d], [x, y, z, w]) {
  return [d * x + a * w + b * z - c * y, d * y - a * z + b * w + c * x, d * z + a * y - b * x + c * w, d * w - a * x - b * y - c * z];
}
