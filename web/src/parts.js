// Arrows, lines and grids: what a view is drawn with besides the body.

import {
  BufferAttribute,
  BufferGeometry,
  CircleGeometry,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  Line,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";

const Y = new Vector3(0, 1, 0),
  Z = new Vector3(0, 0, 1);

/** An arrow from the origin; `point` turns it to a vector. */
export class Arrow extends Group {
  constructor(radius) {
    super();
    this.material = new MeshStandardMaterial({ roughness: 0.5 });
    this.head = 7 * radius;
    this.shaft = new Mesh(new CylinderGeometry(radius, radius, 1, 20).translate(0, 0.5, 0), this.material);
    this.cone = new Mesh(new ConeGeometry(2.6 * radius, this.head, 28).translate(0, -this.head / 2, 0), this.material);
    this.add(this.shaft, this.cone);
  }

  point(vector) {
    const v = new Vector3(...vector),
      length = v.length();
    this.visible = length > 1e-6;
    if (!this.visible) return;
    this.quaternion.setFromUnitVectors(Y, v.divideScalar(length));
    this.shaft.scale.y = Math.max(1e-3, length - this.head);
    this.cone.position.y = length;
    this.cone.scale.setScalar(Math.min(1, length / this.head));
  }
}

/** A curve that grows with time: all of it faint, the part that has passed bold. */
export class Trace extends Group {
  constructor(points, width = 2.2) {
    super();
    this.count = points.length / 3;
    this.whole = new Line(
      new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3)),
      new LineBasicMaterial({ transparent: true, opacity: 0.28 }),
    );
    this.past = new Line2(new LineGeometry().setPositions(points), new LineMaterial({ linewidth: width }));
    this.whole.frustumCulled = this.past.frustumCulled = false;
    this.add(this.whole, this.past);
  }

  until(index) {
    this.past.geometry.instanceCount = Math.max(0, Math.min(this.count - 1, index));
  }

  paint(colour) {
    this.whole.material.color.set(colour);
    this.past.material.color.set(colour);
  }
}

/** A path whose points move: all of it faint, what has passed bold. */
export class Path extends Trace {
  constructor(count) {
    super(new Float32Array(3 * count), 2.6);
    this.whole.material.opacity = 0.55;
  }

  /** All points (typed array), and how far it has come: past point `index`, at `here`. */
  move(points, index, here) {
    const whole = this.whole.geometry.attributes.position,
      past = this.past.geometry.attributes.instanceStart.data; // pairs of points
    whole.array.set(points);
    for (let i = 0; i < this.count - 1; i += 1) for (let k = 0; k < 6; k += 1) past.array[6 * i + k] = points[3 * i + k];
    if (index < this.count - 1) past.array.set(here, 6 * index + 3);
    whole.needsUpdate = past.needsUpdate = true;
    this.until(index + 1);
  }
}

/** Bold lines from point to point; `points` has six numbers for each. */
export class Segments extends LineSegments2 {
  constructor(count, width, points = new Float32Array(6 * count)) {
    super(new LineSegmentsGeometry().setPositions(points), new LineMaterial({ linewidth: width }));
    this.frustumCulled = false;
  }

  get points() {
    return this.geometry.attributes.instanceStart.data.array;
  }

  moved() {
    this.geometry.attributes.instanceStart.data.needsUpdate = true;
  }
}

/** The three body axes as pins with round heads. */
export class Axes extends Group {
  constructor(length) {
    super();
    this.pins = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), Z].map((axis) => {
      const pin = new Group(),
        material = new MeshStandardMaterial({ roughness: 0.5 });
      pin.add(new Mesh(new CylinderGeometry(0.011, 0.011, length, 12).translate(0, length / 2, 0), material));
      pin.add(new Mesh(new SphereGeometry(0.04, 20, 14).translate(0, length, 0), material));
      pin.quaternion.setFromUnitVectors(Y, axis);
      this.add(pin);
      return material;
    });
  }

  paint(colours) {
    this.pins.forEach((material, i) => material.color.set(colours[i]));
  }
}

/** A disc with rings and spokes about its own z axis. */
export class Disc extends Group {
  constructor(radius, fill = 0) {
    super();
    const points = [];
    const along = (r, a) => points.push(r * Math.cos(a), r * Math.sin(a), 0);
    for (const r of [0.25, 0.5, 0.75, 1])
      for (let i = 0; i < 96; i += 1) {
        along(r * radius, (i * Math.PI) / 48);
        along(r * radius, ((i + 1) * Math.PI) / 48);
      }
    for (let i = 0; i < 12; i += 1) {
      along(0.25 * radius, (i * Math.PI) / 6);
      along(radius, (i * Math.PI) / 6);
    }
    this.lines = new LineSegments(
      new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3)),
      new LineBasicMaterial({ transparent: true, opacity: 0.5 }),
    );
    this.face = new Mesh(
      new CircleGeometry(radius, 96),
      new MeshBasicMaterial({ transparent: true, opacity: fill, depthWrite: false, side: DoubleSide }),
    );
    this.face.visible = fill > 0;
    this.add(this.lines, this.face);
  }

  /** At a place, its axis along a unit vector. */
  lay(at, normal) {
    this.position.set(...at);
    this.quaternion.setFromUnitVectors(Z, new Vector3(...normal));
  }

  paint(line, face) {
    this.lines.material.color.set(line);
    this.face.material.color.set(face);
  }
}
