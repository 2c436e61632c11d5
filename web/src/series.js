// Which lines go into which plot.

import { locate } from "./data.js";

const lowered = (n) => String(n).replace(/./g, (c) => "₀₁₂₃₄₅₆₇₈₉"[c]);

/** What angular velocities are called: of the body, and of its rotors. */
export const NAMES = { omega: (k) => `Ω${lowered(k + 1)}`, speeds: (k) => `w${lowered(k + 1)}` };

/** How many components a run has of them. */
export const width = (run, key) => (key === "omega" ? 3 : run.rotors.length);

/** Column k of an (n, width) array. */
const column = (array, width, k) =>
  width === 1 ? array : Float32Array.from({ length: array.length / width }, (_, i) => array[width * i + k]);

function line(run, key, label, colour, width = 1, k = 0) {
  return { run, label, colour, t: run.t, y: column(run[key], width, k) };
}

/** An error of each run, in the colour of the run. */
export const errors = (runs, key, theme) =>
  runs.map((run, i) => line(run, key, runs.length > 1 ? run.label : "", () => theme.line(i)));

/** Angular velocities: all components of one run, or one component of several. */
export function velocities(runs, key, component, theme) {
  if (runs.length === 1)
    return Array.from({ length: width(runs[0], key) }, (_, k) =>
      line(runs[0], key, NAMES[key](k), () => theme.line(k), width(runs[0], key), k),
    );
  return runs
    .map((run, i) => width(run, key) > component && line(run, key, run.label, () => theme.line(i), width(run, key), component))
    .filter(Boolean);
}

/** The component that changes most: what one wants to see of several runs. */
export function liveliest(run) {
  const ranges = [0, 1, 2].map((k) => {
    const y = column(run.omega, 3, k);
    return y.reduce((a, v) => Math.max(a, v)) - y.reduce((a, v) => Math.min(a, v));
  });
  return ranges.indexOf(Math.max(...ranges));
}

/** The title of an error on a logarithmic axis, where its size is drawn: (E − E₀) becomes |E − E₀|. */
export const sized = (title) => title.replace(/\(([^()]*)\)(·up)?/, (all, inside, up) => `|${up ? all : inside}|`);

/** The stored value at or before a time. */
export const valueAt = ({ t, y }, time) => y[locate(t, time)[0]];

/** Whether some runs would be flat beside others: then a logarithmic axis shows more. */
export function farApart(runs, key) {
  const sizes = runs.map((run) => run[key].reduce((most, v) => Math.max(most, Math.abs(v)), 0)).filter((v) => v > 0);
  return sizes.length > 1 && Math.max(...sizes) > 30 * Math.min(...sizes);
}
