// What every view has: a scene with light from above the reader's left shoulder.

import { Color, DirectionalLight, HemisphereLight, Scene, Vector3 } from "three";

export class Scenery {
  constructor(run) {
    this.run = run;
    this.scene = new Scene();
    this.sky = new HemisphereLight(0xffffff, 0xc9c5bd, 2.1);
    this.key = new DirectionalLight(0xffffff, 1.5);
    this.scene.add(this.sky, this.key);
  }

  light(camera) {
    const right = new Vector3().setFromMatrixColumn(camera.matrixWorld, 0);
    this.key.position.copy(camera.position).addScaledVector(camera.up, 6).addScaledVector(right, -4);
    this.sky.position.copy(camera.up);
  }

  dispose() {
    this.scene.traverse((part) => {
      part.geometry?.dispose();
      for (const material of [part.material ?? []].flat()) material.dispose();
    });
  }
}

/** Gives the named materials of an object the colours of a theme. */
export function colour(object, theme) {
  object.traverse((part) => {
    for (const material of [part.material ?? []].flat())
      if (theme[material.name]) material.color = new Color(theme[material.name]);
  });
}
