// The motions that the page asks for, by the library's own methods, which `polhode export` writes in JavaScript: what
// src/polhode/show/play/work.py does in Python.  Nothing here needs a page.

import { dot, rotate } from "./data.js";
import { python, spell } from "./format.js";

const ROUND_OFF = 2e-14; // of a residual
const LARGEST_ANGLE = 1e8; // radians per step
const RUNAWAY = 10; // times the kinetic energy that a conservative motion can have
const BREATH = 25; // milliseconds between looks at what else was asked
const UP = [0, 0, 1];
const TORQUE = "changed by the torque";

/**
 * What comes of a request: runs as the viewer takes them, a verdict for each, and the code in Python; or what is refused.
 * @param {object} request as `checked` gives it
 * @param {object} catalogue what the page offers
 * @param {object} code the exported methods and torques
 * @param {(state: string, method: string, share: number) => Promise<void>} tell may throw to end it
 */
export async function computed(request, catalogue, code, tell) {
  const { starts, methods } = request,
    fields = ["method", methods.length > 1 ? "compare" : "second"],
    count = Math.max(starts.length, methods.length),
    acting = torques(request, catalogue),
    frames = Math.min(catalogue.limits.frames, Math.floor(catalogue.limits.allFrames / count)),
    done = [],
    refused = {};
  for (let i = 0; i < count; i += 1) {
    const run = new Run(request, starts[i] ?? starts[0], methods[i] ?? methods[0], acting, code, catalogue.gravity);
    await run.follow((share) => tell("running", run.method.name, share), catalogue.limits.seconds);
    if (run.length < 2) refused[fields[i]] = run.message;
    else done.push(run);
  }
  if (Object.keys(refused).length) return { refused };
  const runs = done.map((run) => run.encoded(frames, catalogue.version));
  if (starts.length > 1) runs.forEach((one, i) => Object.assign(one, { label: `${["first", "second"][i]} body`, detail: done[i].method.name }));
  else if (methods.length > 1 && methods[0] === methods[1])
    runs.forEach((one, i) => Object.assign(one, { label: `${one.label}, ${one.detail} (${i + 1})`, detail: "" }));
  return { runs, verdicts: done.map((run) => run.verdict()), code: program(request, done) };
}

/** The torques that act, with their parameters. */
function torques({ problem, weight, damping, step }, { torques: known }) {
  const given = problem.acting.map(({ name, parameters }) => [name, parameters]);
  if (weight) given.push(["heavy_top", { moment: weight }]);
  if (damping) given.push(["damping", { coefficients: [damping, damping, damping] }]);
  return given.map(([name, parameters]) => {
    const facts = known[name],
      supplied = Object.fromEntries(facts.supplied.map((key) => [key, { step }[key]]));
    return { name, ...facts, parameters: { ...parameters, ...supplied } };
  });
}

class Run {
  constructor({ problem, step, span }, start, method, acting, code, gravity) {
    Object.assign(this, { method, start, acting, h: step, begin: problem.begin });
    const { body } = start,
      steps = Math.abs(span / step - Math.round(span / step)) < 1e-9 * Math.max(1, span / step) ? Math.round(span / step) : Math.floor(span / step);
    this.even = steps; // steps of full size; one more ends at the end of the span
    this.steps = steps + (steps < span / step - 1e-9 * Math.max(1, span / step) ? 1 : 0);
    this.end = problem.begin + span;
    this.J = body.moments;
    this.free = !acting.length;
    this.thrown = problem.thrown; // a velocity: the body, of 1 kg, flies along a parabola and turns as if it did not
    this.gravity = gravity;
    this.conserves = acting.every((one) => one.conserves);
    this.weight = acting.find((one) => one.arm);
    this.evaluations = 0;
    this.code = code.methods[method.name];
    this.body = code.makeBody(body.moments);
    this.parts = acting.map((one) => ({ ...one, ...code.torques[one.name] }));
    this.torque = this.sum();
    this.t = new Float64Array(this.steps + 1);
    this.q = new Float64Array(4 * (this.steps + 1));
    this.omega = new Float64Array(3 * (this.steps + 1));
    this.length = 0;
    this.message = "";
  }

  /** The torque on the body, in body axes. */
  sum() {
    const terms = this.parts.map(({ torque, frame, parameters }) =>
      frame === "body"
        ? (t, R, Om) => torque(t, R, Om, parameters)
        : (t, R, Om) => {
            const [x, y, z] = torque(t, R, Om, parameters);
            return [0, 1, 2].map((i) => R[0][i] * x + R[1][i] * y + R[2][i] * z);
          },
    );
    const [first, ...others] = terms;
    if (!first) return () => [0, 0, 0];
    return (t, R, Om) => {
      this.evaluations += 1;
      let T = first(t, R, Om);
      for (const other of others) {
        const more = other(t, R, Om);
        T = [T[0] + more[0], T[1] + more[1], T[2] + more[2]];
      }
      return T;
    };
  }

  /** Takes the steps; `tell(share)` is awaited from time to time. */
  async follow(tell, seconds) {
    const { code, body, torque, h, begin } = this,
      { rotation0, omega0 } = this.start;
    let s = code.start(h, begin, rotation0, omega0, body, torque),
      looked = performance.now();
    const began = looked;
    this.keep(0, begin, rotation0, omega0);
    [this.T0, this.V0] = [this.kinetic(0), this.potential(0)];
    for (let k = 0; k < this.steps; k += 1) {
      const t = begin + k * h,
        last = k === this.even, // a shorter step
        size = last ? this.end - t : h;
      if (last && this.method.multistep) s = code.start(size, t, s.q, code.omega(s, body), body, torque);
      s = code.step(size, t, s, body, torque);
      const Om = code.omega(s, body),
        next = k + 1 === this.steps ? this.end : begin + (k + 1) * h;
      if (s.residual > ROUND_OFF) {
        this.message =
          `${this.method.name} could not take the step from t = ${spell(t, 15)} (step ${k}, size ${spell(size)}): the relative residual ` +
          `of its equation is ${spell(s.residual, 2)} (1 where none was found) instead of ${spell(ROUND_OFF)}; use a smaller step`;
        break;
      }
      if (s.q.every(Number.isFinite) && size * (Math.abs(Om[0]) + Math.abs(Om[1]) + Math.abs(Om[2])) < LARGEST_ANGLE) this.keep(k + 1, next, s.q, Om);
      const how = this.strange(k + 1);
      if (how) {
        this.length = k + 1;
        this.message = `${this.method.name} blew up by step ${k}, t = ${spell(t, 15)}: ${how}.  Earlier results are kept; use a smaller step or another method`;
        break;
      }
      const now = k % 64 ? looked : performance.now();
      if (now - looked > BREATH) {
        looked = now;
        await tell((k + 1) / this.steps);
        if (now - began > 1e3 * seconds) {
          this.message =
            `${this.method.name} took ${k + 1} of ${this.steps} steps in ${spell(seconds)} s, which is as long as the playground waits; ` +
            "use a longer step or a shorter span";
          this.length = 0;
          break;
        }
      }
    }
    this.seconds = (performance.now() - began) / 1e3;
    this.taken = Math.max(0, this.length - 1);
  }

  /** Why a motion is none any more, in words; "" if it is. */
  strange(k) {
    if (this.length <= k) return "it turns by more than can be followed in a step";
    if (!this.conserves || this.kinetic(k) <= RUNAWAY * (this.T0 + Math.abs(this.potential(k) - this.V0)) + 1e-300) return "";
    return `its kinetic energy is more than ${RUNAWAY} times what the potential can give`;
  }

  keep(k, t, q, omega) {
    this.t[k] = t;
    this.q.set(q, 4 * k);
    this.omega.set(omega, 3 * k);
    this.length = k + 1;
  }

  attitude(k) {
    return this.q.subarray(4 * k, 4 * k + 4);
  }

  kinetic(k) {
    const { J, omega } = this,
      i = 3 * k;
    return 0.5 * (J[0] * omega[i] ** 2 + J[1] * omega[i + 1] ** 2 + J[2] * omega[i + 2] ** 2);
  }

  /** The potential energy; null where no torque has one. */
  potential(k) {
    const known = this.parts.filter((one) => one.potential);
    if (!known.length) return this.free ? 0 : null;
    const q = this.attitude(k),
      [a, b, c] = [[1, 0, 0], [0, 1, 0], UP].map((e) => rotate(q, e)); // columns
    const R = [0, 1, 2].map((i) => [a[i], b[i], c[i]]);
    return known.reduce((sum, one) => sum + one.potential(this.t[k], R, one.parameters), 0);
  }

  momentum(k) {
    const { J, omega } = this,
      i = 3 * k;
    return rotate(this.attitude(k), [J[0] * omega[i], J[1] * omega[i + 1], J[2] * omega[i + 2]]);
  }

  // --- what it conserves -------------------------------------------------------------------------------------------------

  energyErrors() {
    const n = this.length,
      values = Float64Array.from({ length: n }, (_, k) => this.kinetic(k) + (this.potential(k) ?? 0));
    let most = 0;
    for (let k = 0; k < n; k += 1) most = Math.max(most, this.kinetic(k));
    const flight = this.thrown ? 0.5 * dot(this.thrown, this.thrown) : 0, // what the flight has of the energy, which it keeps
      E0 = values[0] + flight,
      scale = Math.max(Math.abs(E0), 1e-3 * (most + flight)) || 1,
      name = this.potential(0) === null ? "Kinetic energy" : "Energy";
    return { values: values.map((E) => (E - values[0]) / scale), title: `${name} (E − E₀) / |E₀|`, cause: this.conserves ? "" : TORQUE };
  }

  momentumErrors() {
    const n = this.length,
      L0 = this.momentum(0),
      up = this.keptAxis();
    let size = Math.hypot(...L0);
    for (let k = 0; k < n && Math.hypot(...L0) === 0; k += 1) size = Math.max(size, Math.hypot(...this.momentum(k)));
    const values = Float64Array.from({ length: n }, (_, k) => {
      const d = this.momentum(k).map((x, i) => x - L0[i]);
      return (up ? dot(d, up) : Math.hypot(...d)) / (size || 1);
    });
    const title = up ? "Vertical momentum (L − L₀)·up / |L₀|" : `Momentum ${this.thrown ? "about the centre of mass " : ""}|L − L₀| / |L₀|`;
    return { values, title, cause: up || this.free ? "" : TORQUE };
  }

  /** The direction about which no torque acts, where all have the same. */
  keptAxis() {
    const [first, ...others] = this.acting.map((one) => one.up);
    return first && others.every((other) => String(other) === String(first)) ? first : null;
  }

  errors() {
    return (this.found ??= { energy: this.energyErrors(), momentum: this.momentumErrors() });
  }

  verdict() {
    const { energy, momentum } = this.errors(),
      largest = ({ values }) => values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    return {
      method: this.method.name,
      steps: this.taken,
      evaluations: this.free ? null : this.evaluations,
      seconds: this.seconds,
      message: this.message,
      causes: { energy: energy.cause, momentum: momentum.cause },
      energy: largest(energy),
      momentum: largest(momentum),
    };
  }

  // --- for the viewer ----------------------------------------------------------------------------------------------------

  encoded(frames, version) {
    const n = this.length,
      kept = chosen(n, frames),
      { energy, momentum } = this.errors(),
      { J, weight } = this,
      L0 = this.momentum(0),
      size = Math.hypot(...L0),
      arm = weight?.arm ?? null,
      [shape, remark] = this.shape(arm);
    const rows = (array, width) => Float32Array.from({ length: width * kept.length }, (_, i) => array[width * kept[Math.floor(i / width)] + (i % width)]);
    const run = {
      label: this.method.name,
      units: { time: "s", rate: "rad/s", length: "m" },
      detail: `step ${spell(this.h)} s`,
      t: Float64Array.from(kept, (k) => this.t[k]),
      quaternion: rows(this.q, 4),
      omega: rows(this.omega, 3),
      ...(this.thrown ? this.flight(kept) : {}),
      energy: worst(energy.values, kept),
      momentum: worst(momentum.values, kept),
      titles: { energy: energy.title, momentum: momentum.title },
      causes: { energy: energy.cause, momentum: momentum.cause },
      rotors: [],
      inertia: [J[0], 0, 0, 0, J[1], 0, 0, 0, J[2]],
      moments: J,
      principal: [0, 0, 0, 1],
      up: this.free ? (size ? L0.map((x) => x / size) : UP) : (weight?.up ?? UP),
      arm,
      free: this.free,
      shape,
      about: this.about(version),
    };
    return { ...run, notes: [...(remark ? [remark] : []), ...this.thinned(run.t)] };
  }

  /** The places of the centre of mass, and half the length of the body. */
  flight(kept) {
    const { J, thrown, gravity, begin } = this,
      half = (J[0] + J[1] + J[2]) / 2,
      position = new Float64Array(3 * kept.length);
    kept.forEach((k, i) => {
      const t = this.t[k] - begin;
      position.set([thrown[0] * t, thrown[1] * t, (thrown[2] - 0.5 * gravity * t) * t], 3 * i);
    });
    const size = Math.max(...J.map((x) => half - x), 1e-3 * Math.max(...J));
    return { position, extent: Math.sqrt(3 * size) };
  }

  shape(arm) {
    const { body } = this.start,
      { J } = this;
    if (body.shape) return [body.shape, ""];
    if (arm) return [{ kind: "top", arm }, ""];
    const half = (J[0] + J[1] + J[2]) / 2,
      size = J.map((x) => Math.sqrt(Math.max(half - x, 1e-3 * Math.max(...J))));
    return [{ kind: "box", size, turn: [0, 0, 0, 1] }, "The body is drawn as a box of the same moments of inertia."];
  }

  thinned(t) {
    const notes = [],
      n = this.length;
    if (t.length < n) notes.push(`${t.length} of ${n} stored points are shown; each error is the largest since the previous point.`);
    let speed = 0,
      gap = 0;
    for (let k = 0; k < n; k += 1) speed = Math.max(speed, Math.hypot(...this.omega.subarray(3 * k, 3 * k + 3)));
    for (let i = 1; i < t.length; i += 1) gap = Math.max(gap, t[i] - t[i - 1]);
    const turned = (speed * gap) / (2 * Math.PI);
    if (turned > 0.25)
      notes.push(`Between two stored points the body makes up to ${spell(turned, 1)} turns; the animation shows the shortest rotation.`);
    return notes;
  }

  about(version) {
    const { method, acting } = this,
      kinds = ["symplectic", "symmetric", "implicit"].filter((word) => method[word] === true);
    return {
      method: [method.name, `order ${method.order}`, ...kinds].join(", "),
      "": method.summary,
      step: `${spell(this.h)} s`,
      steps: String(this.taken),
      ...(this.thrown ? { force: "weight" } : {}),
      torque: acting.map((one) => one.name).join(" + ") || "none",
      ...(this.free ? {} : { "torque evaluations": String(this.evaluations) }),
      "principal moments": `${this.J.map((x) => spell(x)).join(", ")} kg m²`,
      status: this.message || "the run reached its end",
      polhode: `${version}, in the browser`,
    };
  }
}

/** Which of n points are shown: the ends and what lies evenly between. */
function chosen(n, frames) {
  if (n <= frames) return Array.from({ length: n }, (_, i) => i);
  return [...new Set(Array.from({ length: frames }, (_, i) => Math.round((i * (n - 1)) / (frames - 1))))];
}

/** For each point shown, the value of largest size since the point before it: no peak is lost. */
function worst(values, kept) {
  const result = Float32Array.from(kept, (k) => values[k]);
  for (let i = 1; i < kept.length; i += 1) {
    let most = values[kept[i]];
    for (let k = kept[i - 1] + 1; k < kept[i]; k += 1) if (Math.abs(values[k]) > Math.abs(most)) most = values[k];
    result[i] = most;
  }
  return result;
}

// --- as Python --------------------------------------------------------------------------------------------------------------

/** The same in Python, for the reader to take along. */
function program({ problem, weight, damping, step, span }, runs) {
  const acting = [
    ...(problem.acting.length ? [`problem.torque(${python(step)})`] : []),
    ...(weight ? [`polhode.torques.heavy_top(${python(weight)})`] : []),
    ...(damping ? [`polhode.torques.damping(${python(damping)})`] : []),
  ];
  const lines = ["import polhode", "", ...(problem.acting.length ? [`problem = polhode.problem("${problem.name}")`] : [])];
  lines.push(`torque = ${acting.join(" + ") || "None"}`);
  runs.forEach(({ start, method }, i) => {
    lines.push(
      `${["run", "other"][i]} = polhode.integrate(`,
      `    ${bodyCode(start.body)},`,
      `    torque, (${python(problem.begin)}, ${python(problem.begin + span)}), ${python(step)}, "${method.name}",`,
      `    rotation0=[${listed(start.rotation0)}],`,
      `    omega0=[${listed(start.omega0)}]${problem.thrown ? "," : ")"}`,
      ...(problem.thrown ? [`    force=polhode.weight(1.0), velocity0=[${listed(problem.thrown)}])`] : []),
    );
  });
  return [...lines, runs.length === 1 ? "run.view().open()" : "run.view(compare=other).open()", ""].join("\n");
}

function bodyCode({ kind, values, unphysical }) {
  if (kind !== "moments") return `polhode.RigidBody.${kind}(${listed(values)})`;
  return `polhode.RigidBody([${listed(values)}]${unphysical ? ", check_triangle=False" : ""})`;
}

const listed = (values) => values.map(python).join(", ");
