// A run as the page carries it, decoded; and its state at any time between the stored points.

const ARRAYS = { f4: Float32Array, f8: Float64Array, u4: Uint32Array };

/** "f4:BASE64" to a typed array; the bytes are little-endian, as every browser's machine is. */
export function decode(text) {
  const bytes = Uint8Array.from(atob(text.slice(3)), (c) => c.charCodeAt(0));
  return new ARRAYS[text.slice(0, 2)](bytes.buffer);
}

/** Raw run (JSON) to run: typed arrays in place of text. Values that are typed arrays already are left as they are. */
export function decodeRun(raw) {
  const run = { ...raw };
  for (const key of ["t", "quaternion", "omega", "energy", "momentum", "angular", "position", "speeds"])
    if (typeof run[key] === "string") run[key] = decode(run[key]);
  if (!run.bodies) return { ...run, shape: decodeShape(run.shape) };
  run.kinds = run.kinds.map((kind) => ({ ...kind, shape: decodeShape(kind.shape) }));
  const { quaternion, position, omega } = run;
  return choose({ ...run, all: { quaternion, position, omega } }, "all");
}

function decodeShape(shape) {
  if (shape.kind !== "mesh" || typeof shape.vertices !== "string") return shape;
  return { ...shape, vertices: decode(shape.vertices), faces: decode(shape.faces) };
}

/** The run of a system with the motion of one of its bodies as its own, or of none. */
export function choose(run, who) {
  const n = run.bodies,
    one = typeof who === "number";
  for (const [key, width] of [
    ["quaternion", 4],
    ["position", 3],
    ["omega", 3],
  ]) {
    const all = run.all[key];
    run[key] = one && all ? column(all, n * width, who * width, width) : null;
  }
  return run;
}

/** Some of the columns of an (n, width) array. */
function column(array, width, first, count) {
  const found = new array.constructor((array.length / width) * count);
  for (let i = 0; i < found.length; i += 1) found[i] = array[width * Math.floor(i / count) + first + (i % count)];
  return found;
}

/** Place of a body of a system, a fraction of the way after a stored point. */
export function placeOf({ bodies: n, all }, b, i, s) {
  const x = all.position,
    k = 3 * (n * i + b);
  if (s === 0) return [x[k], x[k + 1], x[k + 2]];
  return [0, 1, 2].map((c) => x[k + c] + s * (x[k + 3 * n + c] - x[k + c]));
}

/** Its attitude. */
export const attitudeOf = ({ bodies: n, all }, b, i, s) => between(all.quaternion, 4 * (n * i + b), 4 * n, s);

/** The largest angular velocity. */
export const fastest = (run) => run.fastest ?? largest(run.omega);

/** The index i with t[i] <= time < t[i + 1], and how far between: [i, fraction]; the ends are held. */
export function locate(t, time) {
  const last = t.length - 1;
  if (!(time > t[0])) return [0, 0];
  if (time >= t[last]) return [last, 0];
  let low = 0,
    high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  return [low, (time - t[low]) / (t[high] - t[low])];
}

/** The attitude at a time: the stored quaternion (x, y, z, w) at stored times, the great arc between them elsewhere. */
export function attitude(run, time) {
  const [i, s] = locate(run.t, time);
  return between(run.quaternion, 4 * i, 4, s);
}

/** A quaternion between the one at place `k` of an array and the next. */
function between(q, k, width, s) {
  const a = [q[k], q[k + 1], q[k + 2], q[k + 3]];
  if (s === 0) return a;
  const b = [q[k + width], q[k + width + 1], q[k + width + 2], q[k + width + 3]];
  const cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  const angle = Math.acos(Math.min(1, Math.abs(cosine)));
  const [wa, wb] =
    angle < 1e-4 ? [1 - s, s] : [Math.sin((1 - s) * angle) / Math.sin(angle), Math.sin(s * angle) / Math.sin(angle)];
  const sign = cosine < 0 ? -1 : 1;
  const mixed = a.map((x, k) => wa * x + sign * wb * b[k]);
  const length = Math.hypot(...mixed);
  return mixed.map((x) => x / length);
}

/** A row of an (n, width) array at a time, linear between stored points. */
export function sample(run, array, width, time) {
  const [i, s] = locate(run.t, time);
  return Array.from({ length: width }, (_, k) => {
    const a = array[width * i + k];
    return s === 0 ? a : a + s * (array[width * (i + 1) + k] - a);
  });
}

/** The largest length among the rows of an (n, 3) array. */
export function largest(array) {
  let most = 0;
  for (let i = 0; i < array.length; i += 3) most = Math.max(most, Math.hypot(array[i], array[i + 1], array[i + 2]));
  return most;
}

/** J omega, J given as nine numbers by rows, and that of the rotors at these speeds. */
export function momentum(run, omega, speeds = []) {
  const J = run.inertia,
    found = [0, 3, 6].map((r) => J[r] * omega[0] + J[r + 1] * omega[1] + J[r + 2] * omega[2]);
  run.rotors.forEach(({ axis, inertia }, i) => axis.forEach((a, k) => (found[k] += inertia * (speeds[i] ?? 0) * a)));
  return found;
}

/** The speeds of the rotors at a time. */
export const speedsAt = (run, time) => (run.rotors.length ? sample(run, run.speeds, run.rotors.length, time) : []);

export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** A vector from body to space, by a quaternion (x, y, z, w). */
export function rotate([x, y, z, w], [a, b, c]) {
  const u = 2 * (y * c - z * b),
    v = 2 * (z * a - x * c),
    r = 2 * (x * b - y * a);
  return [a + w * u + y * r - z * v, b + w * v + z * u - x * r, c + w * r + x * v - y * u];
}
