// Which lines go into which plot.

import { locate } from "./data.js";

const lowered = (n) => String(n).replace(/./g, (c) => "₀₁₂₃₄₅₆₇₈₉"[c]);

/** The parts of a motion that are plotted, where a run has them: `name` of a component, `unit` a key of the units of the run. */
export const PARTS = {
  omega: { title: "Angular velocity", where: ", body axes", unit: "rate", name: (k) => `Ω${lowered(k + 1)}`, width: (run) => (run.omega ? 3 : 0) },
  speeds: { title: "Rotor speeds", unit: "rate", name: (k) => `w${lowered(k + 1)}`, width: (run) => run.rotors.length },
  position: { title: "Position", unit: "length", name: (k) => "xyz"[k], width: (run) => (run.position ? 3 : 0) },
};

/** The errors that are plotted, where all runs have them. */
export const ERRORS = ["energy", "momentum", "angular"];

/** The largest number of components that a run has of a part. */
export const widest = (runs, part) => Math.max(...runs.map(PARTS[part].width));

/** Column k of an (n, width) array. */
const column = (array, width, k) =>
  width === 1 ? array : Float32Array.from({ length: array.length / width }, (_, i) => array[width * i + k]);

function line(run, key, label, colour, width = 1, k = 0) {
  return { run, label, colour, t: run.t, y: column(run[key], width, k) };
}

/** An error of each run, in the colour of the run. */
export const errors = (runs, key, theme) =>
  runs.map((run, i) => line(run, key, runs.length > 1 ? run.label : "", () => theme.line(i)));

/** A part of the motion: all components of one run, or one component of several. */
export function components(runs, part, component, theme) {
  const { name, width } = PARTS[part];
  if (runs.length === 1)
    return Array.from({ length: width(runs[0]) }, (_, k) => line(runs[0], part, name(k), () => theme.line(k), width(runs[0]), k));
  return runs
    .map((run, i) => width(run) > component && line(run, part, run.label, () => theme.line(i), width(run), component))
    .filter(Boolean);
}

/** The component that changes most: what one wants to see of several runs. */
export function liveliest(run, part) {
  const ranges = Array.from({ length: PARTS[part].width(run) }, (_, k) => {
    const y = column(run[part], PARTS[part].width(run), k);
    return y.reduce((a, v) => Math.max(a, v)) - y.reduce((a, v) => Math.min(a, v));
  });
  return Math.max(0, ranges.indexOf(Math.max(...ranges)));
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
