// The run of a system in 3D: all bodies, their paths and links, with the camera on all of them, on one or on the centre of mass.

import { BufferAttribute, BufferGeometry, Group, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, Quaternion, Vector3 } from "three";
import { attitudeOf, locate, placeOf, rotate } from "./data.js";
import { Arrow, Axes, Segments } from "./parts.js";
import { colour, Scenery } from "./scenery.js";
import { makeFigure } from "./shapes.js";

const REACH = 1.45; // of what is shown, in scene units
const SMALLEST = 0.06; // size of the largest body: a smaller one could hardly be seen
const APART = 0.4; // enlarged bodies reach at most so far to the nearest
const FEW = 12; // bodies with axes, arrows and bold paths
const OWN = 7; // bodies with colours of their own
const MANY = 40; // bodies that are drawn with fewer faces
const AROUND = 1.8; // a followed body is shown with its nearest, so many times their distance
const LOOKED = 300; // bodies among which the nearest are looked for
const ARROW = 1.7; // length of the longest, in sizes of the body

export class SystemView extends Scenery {
  constructor(run) {
    super(run);
    const n = run.bodies;
    this.sizes = run.which.map((kind) => run.kinds[kind].size);
    this.largest = Math.max(...this.sizes);
    this.frames = new Map(); // by whom the camera follows
    this.groups = makeGroups(run);
    this.moving = new Group(); // in lengths of the run, about the middle
    this.middle = middleOf(run.all.position);
    this.nearest = nearest(run, 0);
    this.paths = run.box ? null : new Paths(run, this.middle);
    this.links = run.links.length ? new Segments(3 * run.links.length, 3) : null;
    this.box = run.box ? makeBox(run.box) : null;
    if (this.paths) this.moving.add(this.paths);
    if (this.box) this.moving.add(this.box);
    this.arrows = n <= FEW && run.all.omega ? run.which.map(() => new Arrow(0.03)) : [];
    this.axes = n <= FEW ? run.which.map(() => new Axes(1.3)) : [];
    this.scene.add(this.moving, ...this.arrows, ...this.axes, ...this.groups.flatMap(({ parts }) => parts.map(({ mesh }) => mesh)));
    if (this.links) this.scene.add(this.links);
    this.isFar = true;
    this.azimuth = broadside(run);
    this.placed = { places: new Float64Array(3 * n), turns: new Float64Array(4 * n) };
  }

  /** Scene units to a unit of length while the camera follows someone, and how much larger than life bodies are. */
  scales(who) {
    if (!this.frames.has(who)) {
      const reach = this.reach(who) || this.largest;
      const unit = REACH / reach,
        wanted = SMALLEST / (unit * this.largest),
        room = (APART * this.nearest) / this.largest;
      this.frames.set(who, { unit, enlarged: Math.max(1, Math.min(wanted, Number.isFinite(room) ? room : wanted)) });
    }
    return this.frames.get(who);
  }

  /** How far what is shown reaches from the centre of the picture. */
  reach(who) {
    const { run } = this,
      n = run.bodies,
      x = run.all.position;
    if (typeof who === "number") {
      const near = nearest(run, Math.floor(run.t.length / 2), who);
      return Math.max(1.3 * this.sizes[who], Number.isFinite(near) ? AROUND * near : 0);
    }
    if (run.box) return 0.5 * Math.hypot(...run.box);
    let most = 0;
    for (let i = 0; i < run.t.length; i += 1) {
      const c = who === "centre" ? centreAt(run, i) : this.middle;
      for (let b = 0; b < n; b += 1) {
        const k = 3 * (n * i + b);
        most = Math.max(most, Math.hypot(x[k] - c[0], x[k + 1] - c[1], x[k + 2] - c[2]) + this.sizes[b]);
      }
    }
    return most;
  }

  /** The centre of the picture. */
  target(who, [i, s]) {
    const { run } = this;
    if (typeof who === "number") return this.wrap(placeOf(run, who, i, s));
    if (run.box) return [0, 0, 0];
    if (who !== "centre") return this.middle;
    const a = centreAt(run, i);
    if (!s) return a;
    const b = centreAt(run, i + 1);
    return a.map((v, k) => v + s * (b[k] - v));
  }

  /** A place in the periodic box. */
  wrap(x) {
    const { box } = this.run;
    return box ? x.map((v, k) => v - box[k] * Math.round(v / box[k])) : x;
  }

  show(time, { who = "all", trace, arrows, axes }) {
    const { run } = this,
      at = locate(run.t, time),
      { unit, enlarged } = this.scales(who),
      centre = this.target(who, at),
      { places, turns } = this.placed;
    for (let b = 0; b < run.bodies; b += 1) {
      places.set(
        this.wrap(placeOf(run, b, ...at)).map((v, k) => (v - centre[k]) * unit),
        3 * b,
      );
      turns.set(attitudeOf(run, b, ...at), 4 * b);
    }
    for (const group of this.groups) group.place(places, turns, unit * enlarged);
    this.moving.position.set(...centre.map((c, k) => ((run.box ? 0 : this.middle[k]) - c) * unit));
    this.moving.scale.setScalar(unit);
    if (this.paths) {
      this.paths.visible = Boolean(trace);
      this.paths.until(at[0]);
    }
    if (this.links) this.tie(unit, enlarged);
    for (let b = 0; b < this.axes.length; b += 1) this.adorn(b, at, unit * enlarged * this.sizes[b], arrows, axes);
    this.shown = { who, unit, enlarged };
  }

  /** Axes and angular velocity of a body. */
  adorn(b, at, scale, arrows, axes) {
    const { places, turns } = this.placed,
      q = Array.from(turns.subarray(4 * b, 4 * b + 4));
    for (const part of [this.axes[b], this.arrows[b]].filter(Boolean)) {
      part.position.fromArray(places, 3 * b);
      part.scale.setScalar(scale);
    }
    this.axes[b].quaternion.set(...q);
    this.axes[b].visible = Boolean(axes);
    if (!this.arrows[b]) return;
    const { omega } = this.run.all,
      [i, s] = at,
      k = 3 * (this.run.bodies * i + b),
      next = s ? k + 3 * this.run.bodies : k;
    const w = [0, 1, 2].map((c) => omega[k + c] + s * (omega[next + c] - omega[k + c]));
    this.arrows[b].point(rotate(q, w).map((v) => (v * ARROW) / (this.run.fastest || 1)));
    this.arrows[b].visible &&= Boolean(arrows);
  }

  /** Links as lines: from the centre of one body by the points where it is fixed to the centre of the other. */
  tie(unit, enlarged) {
    const { places, turns } = this.placed,
      out = this.links.points;
    const point = (b, arm) => {
      const q = turns.subarray(4 * b, 4 * b + 4),
        r = rotate(q, arm).map((v) => v * unit * enlarged);
      return [0, 1, 2].map((k) => places[3 * b + k] + r[k]);
    };
    this.run.links.forEach(([i, j], m) => {
      const ends = this.run.ends[m],
        way = [point(i, [0, 0, 0]), point(i, ends.slice(0, 3)), point(j, ends.slice(3)), point(j, [0, 0, 0])];
      const far = this.run.box && Math.hypot(...way[0].map((v, k) => v - way[3][k])) > 0.5 * unit * Math.min(...this.run.box);
      for (let k = 0; k < 3; k += 1) out.set([...way[k], ...way[far ? k : k + 1]], 18 * m + 6 * k);
    });
    this.links.moved();
  }

  paint(theme) {
    this.groups.forEach((group) => group.paint(theme));
    this.paths?.paint(theme);
    this.links?.material.color.set(theme.pivot);
    this.box?.material.color.set(theme.grid);
    for (const arrow of this.arrows) arrow.material.color.set(theme.omega);
    for (const axes of this.axes) axes.paint(theme.axes);
  }

  /** What is shown, for programs and tests. */
  state() {
    return { ...this.shown, places: Array.from(this.placed.places), turns: Array.from(this.placed.turns) };
  }
}

/** Bodies that look alike, drawn at once. */
class Alike {
  constructor(run, kind, members, tint) {
    Object.assign(this, { members, tint, size: run.kinds[kind].size, plain: run.kinds[kind].shape.kind === "mesh" });
    const figure = makeFigure(run.kinds[kind].shape, run.bodies > MANY ? 0.35 : 1);
    figure.updateMatrixWorld(true);
    this.parts = [];
    figure.traverse((part) => {
      if (!part.isMesh) return;
      const mesh = new InstancedMesh(part.geometry, part.material, members.length);
      mesh.frustumCulled = false;
      this.parts.push({ mesh, base: part.matrixWorld.clone() });
    });
  }

  place(places, turns, scale) {
    const place = new Matrix4(),
      [x, q, s] = [new Vector3(), new Quaternion(), new Vector3().setScalar(scale * this.size)];
    this.members.forEach((b, j) => {
      place.compose(x.fromArray(places, 3 * b), q.fromArray(turns, 4 * b), s);
      for (const { mesh, base } of this.parts) mesh.setMatrixAt(j, place.clone().multiply(base));
    });
    for (const { mesh } of this.parts) mesh.instanceMatrix.needsUpdate = true;
  }

  paint(theme) {
    const own = this.tint === null ? {} : { [this.plain ? "light" : "dark"]: theme.lines[this.tint % theme.lines.length] };
    for (const { mesh } of this.parts) colour(mesh, { ...theme, ...own });
  }
}

/** Each of a few bodies has a colour; of many, each kind. */
function makeGroups(run) {
  if (run.bodies <= OWN) return run.which.map((kind, b) => new Alike(run, kind, [b], b));
  return run.kinds.map((_, kind) => {
    const members = run.which.flatMap((one, b) => (one === kind ? [b] : []));
    return new Alike(run, kind, members, run.kinds.length > 1 ? kind : null);
  });
}

/** The colour of the path of a body. */
const tintOf = (run, b) => (run.bodies <= FEW ? b : run.which[b]);

/** Paths of all bodies: all faint, what has passed bold. The pieces of all bodies between two points of time are neighbours. */
class Paths extends Group {
  constructor(run, middle) {
    super();
    const { bodies: n, t } = run,
      x = run.all.position;
    this.run = run;
    this.points = new Float32Array(6 * n * (t.length - 1));
    for (let i = 0, at = 0; i < t.length - 1; i += 1)
      for (let b = 0; b < n; b += 1)
        for (const k of [3 * (n * i + b), 3 * (n * (i + 1) + b)])
          for (let c = 0; c < 3; c += 1) this.points[at++] = x[k + c] - middle[c];
    this.whole = lines(this.points, { transparent: true, opacity: n <= FEW ? 0.35 : 0.12, vertexColors: true });
    this.add(this.whole);
    if (n <= FEW) this.add((this.past = new Segments(this.points.length / 6, 2.2, this.points)));
    else this.add((this.past = lines(this.points, { transparent: true, opacity: 0.4, vertexColors: true })));
    this.whole.frustumCulled = this.past.frustumCulled = false;
  }

  until(index) {
    const { bodies: n } = this.run;
    if (this.past.isLineSegments2) this.past.geometry.instanceCount = n * index;
    else this.past.geometry.setDrawRange(0, 2 * n * index);
  }

  paint(theme) {
    const { bodies: n } = this.run,
      colours = Array.from({ length: n }, (_, b) => rgb(theme.lines[tintOf(this.run, b) % theme.lines.length])),
      all = new Float32Array(this.points.length);
    for (let i = 0; i < all.length; i += 6) for (let k = 0; k < 6; k += 1) all[i + k] = colours[(i / 6) % n][k % 3];
    for (const part of [this.whole, this.past])
      if (part.isLineSegments2) {
        part.geometry.setColors(all);
        part.material.vertexColors = true;
        part.material.needsUpdate = true;
      } else part.geometry.setAttribute("color", new BufferAttribute(all, 3));
  }
}

/** "#rrggbb" as the linear colours of the scene. */
const rgb = (text) =>
  [1, 3, 5].map((i) => {
    const v = parseInt(text.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });

const lines = (points, material) =>
  new LineSegments(new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3)), new LineBasicMaterial(material));

/** The edges of a box about the origin. */
function makeBox(edges) {
  const points = [];
  for (let axis = 0; axis < 3; axis += 1)
    for (const u of [-0.5, 0.5])
      for (const v of [-0.5, 0.5])
        for (const w of [-0.5, 0.5]) {
          const corner = [0, 0, 0];
          [corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3]] = [w, u, v];
          points.push(...corner.map((x, k) => x * edges[k]));
        }
  return lines(new Float32Array(points), {});
}

/** The middle of all places of all bodies. */
function middleOf(x) {
  const low = [Infinity, Infinity, Infinity],
    high = low.map((v) => -v);
  for (let i = 0; i < x.length; i += 1) {
    low[i % 3] = Math.min(low[i % 3], x[i]);
    high[i % 3] = Math.max(high[i % 3], x[i]);
  }
  return low.map((v, k) => 0.5 * (v + high[k]));
}

/** The centre of mass at a stored point. */
function centreAt(run, i) {
  const { bodies: n, masses } = run,
    x = run.all.position,
    sum = [0, 0, 0];
  let whole = 0;
  for (let b = 0; b < n; b += 1) {
    whole += masses[b];
    for (let k = 0; k < 3; k += 1) sum[k] += masses[b] * x[3 * (n * i + b) + k];
  }
  return sum.map((v) => v / whole);
}

/** The azimuth from which a system that is long in the plane of the first two axes is seen in its length; nothing for others. */
function broadside(run) {
  const x = run.all.position.subarray(0, 3 * run.bodies),
    mean = [0, 1].map((k) => x.reduce((sum, v, i) => sum + (i % 3 === k ? v : 0), 0) / run.bodies);
  let [xx, xy, yy] = [0, 0, 0];
  for (let i = 0; i < x.length; i += 3) {
    const [u, v] = [x[i] - mean[0], x[i + 1] - mean[1]];
    [xx, xy, yy] = [xx + u * u, xy + u * v, yy + v * v];
  }
  const spread = Math.hypot(xx - yy, 2 * xy);
  return run.bodies > 2 && spread > 0.8 * (xx + yy) ? Math.atan2(2 * xy, xx - yy) / 2 - Math.PI / 2 + 0.3 : undefined;
}

/** The least distance of two bodies at a stored point, or of one to the others. */
function nearest(run, i, who = null) {
  const n = Math.min(run.bodies, LOOKED),
    x = run.all.position,
    of = (b) => x.subarray(3 * (run.bodies * i + b), 3 * (run.bodies * i + b) + 3);
  let least = Infinity;
  for (let a = 0; a < n; a += 1)
    for (let b = who === null ? a + 1 : who; b < (who === null ? n : who + 1); b += 1) {
      if (a === b) continue;
      const [p, q] = [of(a), of(b)];
      least = Math.min(least, Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
    }
  return least;
}
