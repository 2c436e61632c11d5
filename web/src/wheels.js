// The rotors of a body: wheels on their axles, outside its surface, where they can be seen. A mark shows how they turn.

import { Box3, CylinderGeometry, Group, Mesh, MeshStandardMaterial, Vector3 } from "three";
import { locate } from "./data.js";

const Z = new Vector3(0, 0, 1);
const THICK = 0.07,
  GAP = 0.04,
  AXLE = 0.026,
  MARK = Math.PI / 4; // angle of the marked sector
const SMALLEST = 0.16, // radius
  LARGEST = 0.5;
const FASTEST = 9; // radians of a wheel per second of the reader, as of a body: a faster one seems to stand or to go backwards

/** How many times slower than life rotors are drawn, all alike, where time runs so fast. */
export function slowness(runs, speed) {
  const sizes = runs.map(({ speeds = [] }) => speeds.reduce((most, w) => Math.max(most, Math.abs(w)), 0));
  return Math.max(1, (speed * Math.max(...sizes)) / FASTEST);
}

export class Wheels extends Group {
  /** `corners` are those of the figure of the body; the axles go through its centre of mass, or through the middle of one that stands. */
  constructor(run, corners) {
    super();
    this.run = run;
    this.turned = angles(run);
    const middle = run.arm ? new Box3().setFromPoints(corners).getCenter(new Vector3()) : new Vector3(),
      axes = run.rotors.map(({ axis }) => new Vector3(...axis));
    this.wheels = run.rotors.map(({ axis, inertia }, i) => {
      const place = new Group(),
        inside = axes.slice(0, i).filter((other) => other.dot(axes[i]) > 0.99).length, // on the same axle
        share = inertia / moment(run.inertia, axis), // it grows with the fifth power of the size
        [ahead, aside] = reach(corners, middle, axes[i]),
        radius = Math.min(LARGEST, Math.max(SMALLEST, 0.8 * aside * share ** 0.2));
      const wheel = makeWheel(radius);
      wheel.position.z = ahead + GAP + inside * (THICK + GAP);
      place.position.copy(middle);
      place.quaternion.setFromUnitVectors(Z, axes[i]);
      place.add(wheel, makeAxle(wheel.position.z + THICK + GAP));
      this.add(place);
      return wheel;
    });
  }

  /** Turns the wheels to where they are at a time, so many times slower. */
  show(time, slowness) {
    this.angles = this.wheels.map((_, i) => angleAt(this.run, this.turned, i, time) / slowness);
    this.wheels.forEach((wheel, i) => (wheel.rotation.z = this.angles[i] % (2 * Math.PI)));
  }

  paint(colours) {
    this.wheels.forEach(({ material }, i) => material.color.set(colours[i % colours.length]));
  }
}

/** The integrals of the speeds from the start to each point, between which a speed changes linearly. */
function angles({ t, speeds, rotors }) {
  const n = rotors.length,
    turned = new Float64Array(n * t.length);
  for (let i = n; i < turned.length; i += 1) {
    const point = Math.floor(i / n);
    turned[i] = turned[i - n] + (t[point] - t[point - 1]) * 0.5 * (speeds[i - n] + speeds[i]);
  }
  return turned;
}

function angleAt({ t, speeds, rotors }, turned, rotor, time) {
  const [point, s] = locate(t, time),
    i = rotors.length * point + rotor;
  if (s === 0) return turned[i];
  const [w0, w1] = [speeds[i], speeds[i + rotors.length]];
  return turned[i] + (t[point + 1] - t[point]) * s * (w0 + 0.5 * s * (w1 - w0));
}

/** A disc above the plane z = 0 with a mark on one sector, about the z axis. */
function makeWheel(radius) {
  const upright = (...sizes) => new CylinderGeometry(...sizes).rotateX(Math.PI / 2).translate(0, 0, THICK / 2);
  const wheel = new Mesh(upright(radius, radius, THICK, 64), new MeshStandardMaterial({ roughness: 0.5 }));
  const mark = Object.assign(new MeshStandardMaterial({ roughness: 0.5 }), { name: "pivot" });
  wheel.add(new Mesh(upright(1.01 * radius, 1.01 * radius, 1.06 * THICK, 16, 1, false, 0, MARK), mark));
  return wheel;
}

/** A rod from the middle of the body. */
function makeAxle(length) {
  const steel = Object.assign(new MeshStandardMaterial({ roughness: 0.5 }), { name: "pivot" });
  return new Mesh(new CylinderGeometry(AXLE, AXLE, length, 20).rotateX(Math.PI / 2).translate(0, 0, length / 2), steel);
}

/** How far corners are from the middle, along an axis and away from it. */
function reach(corners, middle, axis) {
  const out = new Vector3();
  let [ahead, aside] = [0, 0];
  for (const corner of corners) {
    const height = out.subVectors(corner, middle).dot(axis);
    ahead = Math.max(ahead, height);
    aside = Math.max(aside, Math.sqrt(Math.max(0, out.lengthSq() - height * height)));
  }
  return [ahead, aside];
}

/** The moment of inertia about an axis, of a tensor given as nine numbers by rows. */
const moment = (J, a) => a.reduce((sum, x, r) => sum + x * (J[3 * r] * a[0] + J[3 * r + 1] * a[1] + J[3 * r + 2] * a[2]), 0);
