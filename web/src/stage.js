// The canvas: one renderer and one camera for all runs, so that every view is turned at once.

import { PerspectiveCamera, Vector3, WebGLRenderer } from "three";
import { make } from "./plots.js";
import { SystemView } from "./system.js";
import { Sharpness } from "./sharpness.js";
import { View } from "./view.js";

const FIELD = 26; // degrees
const HOME = { azimuth: 0.6, elevation: 0.3, zoom: 1 }; // where the camera is at first

export class Stage {
  constructor(canvas, cells, redraw) {
    this.canvas = canvas;
    this.cells = cells; // the element whose children are the places of the views
    this.views = [];
    this.camera = new PerspectiveCamera(FIELD, 1, 0.1, 100);
    this.home = HOME;
    this.orbit = { ...HOME };
    this.up = new Vector3(0, 0, 1);
    this.target = new Vector3();
    this.sharpness = new Sharpness();
    this.held = new Map(); // pointers that turn the view
    this.room = 1; // radius of what must fit in a view
    this.renderer = this.start();
    this.listen(cells, redraw);
  }

  /** The renderer, or null where the browser has no WebGL: then the plots work alone. */
  start() {
    try {
      const renderer = new WebGLRenderer({ canvas: this.canvas, antialias: false, alpha: true, preserveDrawingBuffer: true });
      renderer.setClearColor(0, 0);
      renderer.setScissorTest(true);
      return renderer;
    } catch {
      this.canvas.replaceWith(
        make("p", "no-picture", "This browser has no WebGL, so there is no 3D picture; the plots work without it."),
      );
      return null;
    }
  }

  setRuns(runs) {
    this.views.forEach((view) => view.dispose());
    this.views = runs.map((run) => (run.bodies ? new SystemView(run) : new View(run)));
  }

  paint(themes) {
    this.views.forEach((view, i) => view.paint(themes(i)));
  }

  /** Up on the screen: the third axis for a body in flight, else along the momentum of a free body, against gravity for a top; Poinsot's plane lies below. */
  aim(run, poinsot) {
    this.up
      .set(...((run.bodies || run.position) && !poinsot ? [0, 0, 1] : run.up))
      .multiplyScalar(poinsot ? -1 : 1)
      .normalize();
    const stands = run.arm && !this.views.some((view) => view.deep);
    this.target.set(...run.up).multiplyScalar(poinsot ? 0.2 : stands ? 0.55 : 0);
    this.room = poinsot ? 1.4 : stands ? 1.3 : 1.75;
    const side = this.views[0].azimuth ?? HOME.azimuth; // from which a long system is seen in its length
    this.orbit = this.home.azimuth === side ? this.orbit : { ...HOME, azimuth: side };
    this.home = { ...HOME, azimuth: side };
  }

  /** The picture at a time; one that stands `still` may take longer. */
  render(time, options, still = true) {
    const ratio = this.sharpness.ratio(still && !this.held.size),
      frame = this.cells.getBoundingClientRect();
    if (!this.renderer || !frame.width || !frame.height) return;
    if (this.width !== frame.width || this.height !== frame.height || this.ratio !== ratio) {
      [this.width, this.height, this.ratio] = [frame.width, frame.height, ratio];
      this.renderer.setPixelRatio(ratio);
      this.renderer.setSize(frame.width, frame.height, false);
    }
    this.renderer.setScissor(0, 0, frame.width, frame.height);
    this.renderer.clear();
    this.views.forEach((view, i) => {
      const cell = this.cells.children[i].getBoundingClientRect();
      const name = this.cells.children[i].firstElementChild; // of several runs; the picture lies below it
      const height = cell.height - (name ? name.offsetTop + name.offsetHeight : 0);
      const place = [cell.left - frame.left, frame.bottom - cell.bottom, cell.width, height];
      this.renderer.setViewport(...place);
      this.renderer.setScissor(...place);
      this.look(cell.width / height);
      view.show(time, options);
      view.light(this.camera);
      this.renderer.render(view.scene, this.camera);
    });
  }

  look(aspect) {
    const { azimuth, elevation, zoom } = this.orbit,
      { camera, up } = this;
    const side = new Vector3(1, 0, 0);
    if (Math.abs(up.x) > 0.9) side.set(0, 1, 0);
    side.addScaledVector(up, -side.dot(up)).normalize();
    const ahead = new Vector3().crossVectors(up, side);
    const distance = (zoom * this.room) / Math.sin((FIELD * Math.PI) / 360) / Math.min(1, aspect);
    camera.position
      .copy(this.target)
      .addScaledVector(side, distance * Math.cos(elevation) * Math.cos(azimuth))
      .addScaledVector(ahead, distance * Math.cos(elevation) * Math.sin(azimuth))
      .addScaledVector(up, distance * Math.sin(elevation));
    camera.up.copy(up);
    camera.aspect = aspect;
    camera.far = this.views.some((view) => view.isFar) ? 1e5 : 4 * distance + 10;
    camera.updateProjectionMatrix();
    camera.lookAt(this.target);
    camera.updateMatrixWorld();
  }

  turn(right, upwards) {
    this.orbit.azimuth -= right;
    this.orbit.elevation = Math.max(-1.5, Math.min(1.5, this.orbit.elevation + upwards));
  }

  zoom(factor) {
    const least = this.views.some((view) => view.run.bodies) ? 0.03 : 0.35;
    this.orbit.zoom = Math.max(least, Math.min(4, this.orbit.zoom * factor));
  }

  /** Dragging turns, the wheel and two fingers zoom; up and down on a touch screen still scrolls the page. */
  listen(element, redraw) {
    const { held } = this;
    const spread = () => {
      const [a, b] = [...held.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    element.addEventListener("pointermove", (event) => {
      const last = held.get(event.pointerId);
      if (!last) return;
      const before = held.size === 2 ? spread() : 0,
        [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (held.size === 1) this.turn(dx * 0.008, dy * 0.008);
      else if (held.size === 2) this.zoom(before / Math.max(1, spread()));
      redraw();
    });
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (event) => held.delete(event.pointerId) && redraw());
    element.addEventListener(
      "wheel",
      (event) => {
        if (element.closest(".compact") && !event.ctrlKey) return; // within a report the wheel scrolls
        event.preventDefault();
        this.zoom(Math.exp(event.deltaY * 0.001));
        redraw();
      },
      { passive: false },
    );
    element.addEventListener("dblclick", () => {
      this.orbit = { ...this.home };
      redraw();
    });
  }

  dispose() {
    this.views.forEach((view) => view.dispose());
    this.renderer?.dispose();
  }
}
