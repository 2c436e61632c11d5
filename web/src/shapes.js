// The body as geometry: the largest half-extent about 1, two tones so that every turn can be seen.

import {
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  Group,
  LatheGeometry,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  SplineCurve,
  Vector2,
  Vector3,
} from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { Wheels } from "./wheels.js";

const Z = new Vector3(0, 0, 1);
const matte = (part) => Object.assign(new MeshStandardMaterial({ roughness: 0.62, metalness: 0.0 }), { name: part });

/** The body of a run with its `wheels`; materials are named "light", "dark", "side" or "pivot". */
export function makeBody(run) {
  const body = new Group(),
    { shape } = run,
    figure = makeFigure(shape);
  body.add(figure);
  if (run.arm && shape.kind !== "top") lift(figure, run.arm);
  body.add((body.wheels = new Wheels(run, run.rotors.length ? corners(figure) : [])));
  if (run.arm) body.add(new Mesh(new SphereGeometry(0.045, 24, 16), matte("pivot")));
  return body;
}

/** The figure of a shape; `fine` below 1 is one of fewer faces. */
export function makeFigure(shape, fine = 1) {
  const figure = MAKERS[shape.kind](shape, (n) => Math.max(6, Math.round(fine * n)));
  if (shape.turn) figure.quaternion.fromArray(shape.turn);
  return figure;
}

/** A body that turns about a fixed point stands on it. */
function lift(figure, arm) {
  const up = new Vector3(...arm),
    lowest = corners(figure).reduce((least, corner) => Math.min(least, corner.dot(up)), 0);
  figure.position.copy(up).multiplyScalar(-lowest);
}

/** All corners of a figure, in the axes of the body. */
function corners(figure) {
  const found = [];
  figure.updateMatrixWorld(true);
  figure.traverse((part) => {
    const points = part.geometry?.attributes.position;
    for (let i = 0; points && i < points.count; i += 1)
      found.push(new Vector3().fromBufferAttribute(points, i).applyMatrix4(part.matrixWorld));
  });
  return found;
}

/** `some` gives how many of so many faces are drawn. */
const MAKERS = {
  /** A box, its two largest faces in two tones, like a book. */
  box({ size }) {
    const most = Math.max(...size),
      edges = size.map((v) => Math.max(0.02, (2 * v) / most) * 0.86);
    const thin = edges.indexOf(Math.min(...edges));
    const round = Math.min(0.05, 0.3 * edges[thin]);
    const materials = Array.from({ length: 6 }, (_, face) => matte(face >> 1 === thin ? (face & 1 ? "dark" : "light") : "side"));
    return new Mesh(new RoundedBoxGeometry(...edges, 4, round), materials);
  },

  ellipsoid({ semi_axes: axes }, some) {
    const most = Math.max(...axes),
      ball = new SphereGeometry(1, some(64), some(32));
    ball.rotateX(Math.PI / 2);
    ball.scale(...axes.map((a) => Math.max(0.02, a / most)));
    return twoTone(ball, octant);
  },

  sphere: (shape, some) => MAKERS.ellipsoid({ semi_axes: [1, 1, 1] }, some),

  cylinder({ radius, height }, some) {
    const most = Math.max(radius, height / 2);
    const barrel = new CylinderGeometry(radius / most, radius / most, Math.max(0.03, height / most), some(64), 2);
    barrel.rotateX(Math.PI / 2);
    return twoTone(barrel, octant);
  },

  /** Balls of equal density on rods, the heaviest of the radius `ball`; of bodies of a system they differ in tone by mass. */
  points({ masses, positions, ball: radius = 0.16, toned = false }, some) {
    const group = new Group(),
      far = Math.max(...positions.map((p) => Math.hypot(...p)));
    const heavy = Math.cbrt(Math.max(...masses));
    positions.forEach((p, i) => {
      const at = new Vector3(...p).divideScalar(far);
      const ball = new SphereGeometry((radius * Math.cbrt(masses[i])) / heavy, some(32), some(20)),
        dark = toned ? masses[i] === Math.max(...masses) : i % 2;
      group.add(new Mesh(ball, matte(dark ? "dark" : "light")).translateX(at.x).translateY(at.y).translateZ(at.z));
      if (at.length() > 1e-6) group.add(rod(at));
    });
    return group;
  },

  /** A peg top that stands on its point; `arm` is its axis. */
  top({ arm }) {
    const outline = [
      [0, 0],
      [0.025, 0.02],
      [0.06, 0.12],
      [0.3, 0.42],
      [0.56, 0.62],
      [0.62, 0.7],
      [0.6, 0.78],
      [0.46, 0.85],
      [0.16, 0.9],
      [0.06, 0.95],
      [0.045, 1.02],
      [0.045, 1.22],
      [0.03, 1.25],
      [0, 1.26],
    ].map(([r, z]) => new Vector2(r, z));
    const turned = new LatheGeometry(new SplineCurve(outline).getPoints(90), 96);
    turned.rotateX(Math.PI / 2);
    const figure = twoTone(turned, (c) => Math.floor((4 * Math.atan2(c.y, c.x)) / Math.PI + 8) % 2 === 0);
    figure.quaternion.copy(new Quaternion().setFromUnitVectors(Z, new Vector3(...arm)));
    const group = new Group();
    group.add(figure);
    return group;
  },

  mesh({ vertices, faces }) {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(vertices.slice(), 3));
    geometry.setIndex(new BufferAttribute(faces.slice(), 1));
    const flat = geometry.toNonIndexed();
    flat.computeBoundingSphere();
    const reach = flat.boundingSphere.center.length() + flat.boundingSphere.radius;
    flat.scale(1.1 / reach, 1.1 / reach, 1.1 / reach);
    flat.computeVertexNormals();
    return new Mesh(flat, matte("light"));
  },
};

const octant = (c) => (c.x > 0 !== c.y > 0) !== c.z > 0;

/** Two meshes from one geometry: the triangles whose centre passes the test, and the others. */
function twoTone(geometry, test) {
  const flat = geometry.toNonIndexed(),
    points = flat.attributes.position,
    normals = flat.attributes.normal;
  const parts = [
      [[], []],
      [[], []],
    ],
    centre = new Vector3(),
    corner = new Vector3();
  for (let i = 0; i < points.count; i += 3) {
    centre.set(0, 0, 0);
    for (let k = 0; k < 3; k += 1) centre.add(corner.fromBufferAttribute(points, i + k));
    const [p, n] = parts[test(centre) ? 0 : 1];
    for (let k = 3 * i; k < 3 * i + 9; k += 1) {
      p.push(points.array[k]);
      n.push(normals.array[k]);
    }
  }
  const group = new Group();
  parts.forEach(([p, n], tone) => {
    const half = new BufferGeometry();
    half.setAttribute("position", new BufferAttribute(new Float32Array(p), 3));
    half.setAttribute("normal", new BufferAttribute(new Float32Array(n), 3));
    group.add(new Mesh(half, matte(tone ? "dark" : "light")));
  });
  return group;
}

/** A thin rod from the centre to a point. */
function rod(to) {
  const geometry = new CylinderGeometry(0.02, 0.02, to.length(), 12);
  geometry.translate(0, to.length() / 2, 0);
  const mesh = new Mesh(geometry, matte("side"));
  mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), to.clone().normalize());
  return mesh;
}
