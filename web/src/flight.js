// A run in flight: where body and path are drawn, with the camera beside the body or for the whole path.

import { Group, Mesh, MeshStandardMaterial, SphereGeometry } from "three";
import { largest, locate, sample } from "./data.js";
import { Path } from "./parts.js";

const REACH = 1.45; // of the whole path in the picture
const SMALLEST = 0.12; // scale of the body beside its whole path: a smaller one could not be seen
const FAR = 30; // a path longer than so many bodies is first shown as a whole

export class Flight extends Group {
  /** `run.extent` is the half length of the body, which is drawn with about 1. */
  constructor(run) {
    super();
    this.run = run;
    this.middle = [0, 1, 2].map((k) => {
      const values = run.position.filter((_, i) => i % 3 === k);
      return (values.reduce((a, x) => Math.min(a, x)) + values.reduce((a, x) => Math.max(a, x))) / 2;
    });
    this.reach = largest(run.position.map((x, i) => x - this.middle[i % 3])) || run.extent;
    this.isLong = this.reach > FAR * run.extent;
    this.points = new Float32Array(run.position.length);
    this.path = new Path(run.t.length);
    this.origin = new Mesh(new SphereGeometry(0.035, 20, 14), new MeshStandardMaterial({ roughness: 0.6 }));
    this.add(this.path, this.origin);
  }

  /** Scene units to a unit of length, the scale of the body, and how many times too large that is. */
  scales(follow) {
    const unit = follow ? 1 / this.run.extent : REACH / this.reach,
      body = follow ? 1 : Math.max(SMALLEST, unit * this.run.extent);
    return { unit, body, enlarged: body / (unit * this.run.extent) };
  }

  /** Puts path and origin where they are at a time; the place and the scale of the body. */
  show(time, follow) {
    const { t, position } = this.run,
      { unit, body } = this.scales(follow),
      at = sample(this.run, position, 3, time),
      centre = follow ? at : this.middle;
    const place = (point) => point.map((x, k) => (x - centre[k]) * unit);
    for (let i = 0; i < position.length; i += 1) this.points[i] = (position[i] - centre[i % 3]) * unit;
    this.path.move(this.points, locate(t, time)[0], place(at));
    this.origin.position.set(...place([0, 0, 0]));
    this.origin.visible = !follow && this.origin.position.length() < 1.1 * REACH;
    return { place: place(at), scale: body };
  }

  paint(theme) {
    this.path.paint(theme.dark);
    this.origin.material.color.set(theme.pivot);
  }
}
