// One run in 3D: the body or Poinsot's picture, arrows, the tip's path.

import { Group } from "three";
import { attitude, largest, locate, momentum, rotate, sample, speedsAt } from "./data.js";
import { Flight } from "./flight.js";
import { Arrow, Axes, Disc, Trace } from "./parts.js";
import { Poinsot, rolls } from "./poinsot.js";
import { colour, Scenery } from "./scenery.js";
import { makeBody } from "./shapes.js";

const REACH = { omega: 1.4, momentum: 1.65 }; // of the longest arrow; where both point one way, both are seen

export class View extends Scenery {
  constructor(run) {
    super(run);
    this.body = makeBody(run);
    this.axes = new Axes(run.arm ? 1.0 : 1.22);
    this.body.add(this.axes);
    this.omega = new Arrow(0.024);
    this.momentum = new Arrow(0.015);
    this.floor = new Disc(run.arm ? 1.25 : 1.7);
    this.floor.lay(run.arm ? [0, 0, 0] : run.up.map((x) => -1.5 * x), run.up);
    const tip = this.tip();
    this.trace = new Trace(tip);
    this.deep = lowest(tip, run.up) < -0.1; // hangs below the floor
    this.poinsot = rolls(run) ? new Poinsot(run) : null;
    this.moving = new Group(); // all that goes where the body goes
    this.moving.add(this.body, this.omega, this.momentum, this.trace);
    this.flight = run.position ? new Flight(run) : null;
    this.isFar = Boolean(this.flight);
    this.scene.add(this.moving, this.floor);
    if (this.flight) this.scene.add(this.flight);
    if (this.poinsot) this.scene.add(this.poinsot);
    this.fastest = largest(run.omega) || 1;
    this.heaviest = this.strongest() || 1;
  }

  /** Where the end of the third axis (of a top: the arm) goes. */
  tip() {
    const { arm, quaternion: q } = this.run,
      points = [];
    const end = arm ? arm.map((x) => 1.26 * x) : [0, 0, 1.22];
    for (let i = 0; i < this.run.t.length; i += 1) points.push(...rotate(q.subarray(4 * i, 4 * i + 4), end));
    return points;
  }

  strongest() {
    const { t, omega, speeds, rotors } = this.run,
      row = (array, width, i) => array?.subarray(width * i, width * (i + 1));
    let most = 0;
    for (let i = 0; i < t.length; i += 1)
      most = Math.max(most, Math.hypot(...momentum(this.run, row(omega, 3, i), row(speeds, rotors.length, i))));
    return most;
  }

  /** Draws a time. `options`: poinsot, arrows, trace, axes, follow; slowness of the rotors. */
  show(time, options) {
    const q = attitude(this.run, time),
      poinsot = options.poinsot && this.poinsot;
    this.body.visible = !poinsot;
    this.floor.visible = !poinsot && !this.flight;
    if (this.flight) this.fly(time, options.follow, Boolean(poinsot));
    this.trace.visible = options.trace && !poinsot;
    this.axes.visible = options.axes;
    if (this.poinsot) this.poinsot.visible = Boolean(poinsot);
    const omega = sample(this.run, this.run.omega, 3, time);
    let arrows = {
      omega: rotate(q, omega).map((x) => (x * REACH.omega) / this.fastest),
      momentum: rotate(q, momentum(this.run, omega, speedsAt(this.run, time))).map((x) => (x * REACH.momentum) / this.heaviest),
    };
    if (poinsot) arrows = this.poinsot.show(time);
    this.body.quaternion.set(...q);
    this.body.wheels.show(time, options.slowness);
    this.trace.until(locate(this.run.t, time)[0]);
    for (const name of ["omega", "momentum"]) {
      this[name].point(arrows[name]);
      this[name].visible &&= options.arrows;
    }
  }

  fly(time, follow, hidden) {
    const { place, scale } = hidden ? { place: [0, 0, 0], scale: 1 } : this.flight.show(time, follow);
    this.flight.visible = !hidden;
    this.moving.position.set(...place);
    this.moving.scale.setScalar(scale);
  }

  paint(theme) {
    colour(this.body, theme);
    this.axes.paint(theme.axes);
    this.body.wheels.paint(theme.lines);
    this.omega.material.color.set(theme.omega);
    this.momentum.material.color.set(theme.momentum);
    this.floor.paint(theme.grid, theme.grid);
    this.trace.paint(theme.trace);
    this.poinsot?.paint(theme);
    this.flight?.paint(theme);
  }

  /** What is shown, for programs and tests. */
  state(time) {
    return {
      quaternion: attitude(this.run, time),
      shown: this.body.quaternion.toArray(),
      place: this.moving.position.toArray(),
      scale: this.moving.scale.x,
      rotors: this.body.wheels.angles,
    };
  }
}

/** The least height among points, against a unit vector. */
function lowest(points, up) {
  let least = Infinity;
  for (let i = 0; i < points.length; i += 3)
    least = Math.min(least, points[i] * up[0] + points[i + 1] * up[1] + points[i + 2] * up[2]);
  return least;
}
