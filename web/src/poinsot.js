// Poinsot's construction: the inertia ellipsoid rolls on the invariable plane; where they touch it draws the polhode on
// itself and the herpolhode on the plane. With rho = omega / sqrt(2 T):  rho . J rho = 1,  rho . L = sqrt(2 T).

import {
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineLoop,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
} from "three";
import { attitude, dot, largest, locate, momentum, rotate, sample } from "./data.js";
import { Disc, Trace } from "./parts.js";

/** Whether the construction holds: a rotor shifts the ellipsoid of energy away from the centre, so that nothing rolls. */
export const rolls = (run) => run.free && !run.rotors.length && largest(run.omega) > 0;

export class Poinsot extends Group {
  /** `run` is one that rolls; lengths are divided so that the ellipsoid's longest semi-axis is 1. */
  constructor(run) {
    super();
    this.run = run;
    const semi = run.moments.map((J) => 1 / Math.sqrt(J));
    this.scaling = 1 / Math.max(...semi);
    this.ellipsoid = new Group();
    this.ellipsoid.add(this.surface(semi.map((a) => a * this.scaling)));
    const onBody = [],
      onPlane = [];
    for (let i = 0; i < run.t.length; i += 1) {
      const rho = this.contactAt(Array.from(run.omega.subarray(3 * i, 3 * i + 3)));
      onBody.push(...rho.map((x) => 1.004 * x));
      onPlane.push(...rotate(run.quaternion.subarray(4 * i, 4 * i + 4), rho));
    }
    this.polhode = new Trace(onBody);
    this.herpolhode = new Trace(onPlane);
    this.ellipsoid.add(this.polhode);
    this.plane = this.invariablePlane(onPlane);
    this.add(this.ellipsoid, this.herpolhode, this.plane);
  }

  surface(semi) {
    const group = new Group();
    this.skin = new MeshStandardMaterial({ roughness: 0.45, transparent: true, opacity: 0.82 });
    this.rings = new LineBasicMaterial({ transparent: true, opacity: 0.45 });
    group.add(new Mesh(new SphereGeometry(1, 96, 64), this.skin).rotateX(Math.PI / 2));
    for (let axis = 0; axis < 3; axis += 1) {
      const points = new Float32Array(3 * 128);
      for (let i = 0; i < 128; i += 1) {
        points[3 * i + ((axis + 1) % 3)] = 1.003 * Math.cos((i * Math.PI) / 64);
        points[3 * i + ((axis + 2) % 3)] = 1.003 * Math.sin((i * Math.PI) / 64);
      }
      group.add(new LineLoop(new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3)), this.rings));
    }
    group.scale.set(...semi);
    group.quaternion.copy(new Quaternion(...this.run.principal));
    return group;
  }

  contactAt(omega) {
    const twice = dot(omega, momentum(this.run, omega));
    return omega.map((x) => (twice > 0 ? (x * this.scaling) / Math.sqrt(twice) : 0));
  }

  invariablePlane(trail) {
    const { up } = this.run,
      d = dot(up, trail);
    let radius = 0;
    for (let i = 0; i < trail.length; i += 3)
      radius = Math.max(radius, Math.hypot(trail[i] - d * up[0], trail[i + 1] - d * up[1], trail[i + 2] - d * up[2]));
    const disc = new Disc(Math.max(1.15, 1.12 * radius), 0.55);
    disc.lay(
      up.map((x) => 1.004 * d * x),
      up,
    );
    this.distance = d;
    return disc;
  }

  /** Shows a time; gives back omega and the momentum as they are drawn, the first to the point of contact. */
  show(time) {
    const q = attitude(this.run, time),
      index = locate(this.run.t, time)[0];
    this.ellipsoid.quaternion.set(...q);
    this.polhode.until(index);
    this.herpolhode.until(index);
    const rho = rotate(q, this.contactAt(sample(this.run, this.run.omega, 3, time)));
    return { omega: rho, momentum: this.run.up.map((x) => x * (this.distance + 0.45)) };
  }

  paint(theme) {
    this.skin.color.set(theme.skin);
    this.rings.color.set(theme.ink);
    this.polhode.paint(theme.trace);
    this.herpolhode.paint(theme.trace);
    this.plane.paint(theme.grid, theme.plane);
  }
}
