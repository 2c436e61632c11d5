// mount(element, runs, options): the whole page for one run or several, in step; `update(runs)` replaces the runs in place.

import { Clock, goodSpeed, nextSpeed } from "./clock.js";
import { button, helpDialog, idle, listenToKeys, Switches, Transport } from "./controls.js";
import { choose, decodeRun, fastest, locate } from "./data.js";
import { number, withUnit } from "./format.js";
import { make, Plot } from "./plots.js";
import { rolls } from "./poinsot.js";
import { components, ERRORS, errors, farApart, liveliest, PARTS, sized, valueAt, widest } from "./series.js";
import { Chooser } from "./chooser.js";
import { Stage } from "./stage.js";
import { Theme } from "./theme.js";
import { slowness } from "./wheels.js";

const SWITCHES = {
  poinsot: ["Poinsot", "The inertia ellipsoid rolling on the invariable plane (P)"],
  arrows: ["Arrows", "Angular velocity and momentum (A)"],
  trace: ["Trace", "Path of the third body axis, or of the tip of a top (R)"],
  axes: ["Axes", "Body axes (B)"],
  follow: ["Follow", "The camera follows the body, or shows its whole path in space (F)"],
};

/**
 * @param {HTMLElement} element filled by the viewer
 * @param {object[]} runs as `polhode.view` encodes them
 * @param {{title?: string, subtitle?: string, autoplay?: boolean, poinsot?: boolean, compact?: boolean}} options; compact: the picture
 *   and its controls alone
 */
export function mount(element, runs, options = {}) {
  return new Viewer(element, runs, options);
}

/** What all say, or nothing. */
const common = (texts) => (texts.every((text) => text === texts[0]) ? texts[0] : "");

class Viewer {
  constructor(element, runs, options) {
    this.theme = new Theme(document.documentElement);
    this.options = { poinsot: Boolean(options.poinsot), arrows: true, trace: false, axes: true };
    this.clock = new Clock(() => this.redraw());
    this.build(element, options);
    this.update(runs, { fresh: true });
    this.stopKeys = listenToKeys(this);
    this.sizes = new ResizeObserver(() => this.redraw());
    this.sizes.observe(this.cells);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (options.autoplay ?? !calm) this.clock.play();
  }

  build(element, { title = "", subtitle = "", compact = false }) {
    this.root = make("div", compact ? "polhode compact" : "polhode");
    const head = make("header", "head"),
      tools = make("div", "tools");
    this.title = make("h1", "", title);
    this.subtitle = make("p", "subtitle", subtitle);
    this.zoomButton = button("tool", "zoom", () => this.zoom(), "Plots around the current time (Z)");
    this.logButton = button("tool", "log", () => this.log(), "Logarithmic error plots (L)");
    tools.append(
      this.zoomButton,
      this.logButton,
      button("tool", "◐", () => this.toggleTheme(), "Light or dark (T)"),
      button("tool", "?", () => this.help(), "Keys (?)"),
    );
    head.append(this.title, tools, this.subtitle);
    this.work = make("main", "work");
    this.work.append(this.buildStage(), (this.plotsPlace = make("div", "plots")));
    this.transport = new Transport(this);
    this.about = make("footer", "about");
    this.dialog = helpDialog();
    this.root.append(head, this.work, this.transport.element, this.about, this.dialog);
    element.replaceChildren(this.root);
    this.compact = compact;
    this.plots = {};
    this.stage = new Stage(this.canvas, this.cells, () => this.redraw());
  }

  buildStage() {
    const stage = make("div", "stage");
    this.canvas = make("canvas");
    this.cells = make("div", "cells");
    this.key = make("div", "key");
    this.key.append(make("span", "key-omega", "ω angular velocity"), make("span", "key-momentum", "L angular momentum"));
    this.turned = make("em", "", "Here L points down, so that the ellipsoid rolls on the plane");
    this.scale = make("em");
    this.key.append(this.turned, this.scale);
    this.switches = new Switches(SWITCHES, (name) => this.switch(name));
    this.whom = new Chooser((who) => this.look(who));
    this.switches.element.prepend(this.whom.element);
    stage.append(this.canvas, this.cells, this.key, this.switches.element);
    return stage;
  }

  /** New runs in place of the old ones: camera, switches and (where the new span holds it) time stay. */
  update(runs, { fresh = false, title, subtitle, poinsot = this.options.poinsot } = {}) {
    this.runs = runs.map(decodeRun);
    if (title !== undefined) this.title.textContent = title;
    if (subtitle !== undefined) this.subtitle.textContent = subtitle;
    this.rolls = this.runs.every(rolls);
    const [{ arm, bodies = 0 }] = this.runs;
    if (fresh) Object.assign(this.options, { trace: Boolean(arm) || (bodies > 0 && bodies <= 20), axes: !arm && !bodies });
    this.whom.offer(this.runs);
    this.options.who = this.whom.value;
    this.options.poinsot = poinsot && this.rolls;
    this.work.classList.toggle("many", this.runs.length > 1);
    this.work.style.setProperty("--runs", this.runs.length);
    this.cells.replaceChildren(...this.runs.map((run, i) => this.cell(run, i)));
    this.stage.setRuns(this.runs);
    const flights = this.stage.views.map((view) => view.flight).filter(Boolean);
    if (fresh) this.options.follow = !flights.some((flight) => flight.isLong);
    this.switches.buttons.follow.hidden = !flights.length;
    this.root.classList.toggle("system", bodies > 0);
    this.root.classList.toggle("crowd", bodies > 0 && !this.runs[0].all.omega);
    const what = [flights.length && "about the centre of mass", widest(this.runs, "speeds") && "with rotors"].filter(Boolean);
    this.key.querySelector(".key-momentum").textContent = ["L angular momentum", what.join(", ")].join(" ").trim();
    this.stage.aim(this.runs[0], this.options.poinsot);
    this.component = Object.fromEntries(Object.keys(PARTS).map((part) => [part, liveliest(this.runs[0], part)]));
    this.logarithmic = fresh ? this.errors().some((key) => farApart(this.runs, key)) : this.logarithmic;
    this.fillPlots();
    this.fillAbout();
    this.paint();
    const start = Math.min(...this.runs.map((run) => run.t[0])),
      end = Math.max(...this.runs.map((run) => run.t.at(-1)));
    if (fresh) {
      this.clock.speed = goodSpeed(end - start, Math.max(...this.runs.map(fastest)));
      this.clock.time = start;
    }
    this.clock.span(start, end);
  }

  cell(run, i) {
    const cell = make("div", "cell");
    if (this.runs.length > 1) {
      const name = make("div", "cell-name"),
        mark = make("i");
      mark.dataset.run = i;
      name.append(mark, make("strong", "", run.label), make("span", "", run.detail));
      cell.append(name);
    }
    return cell;
  }

  fillPlots() {
    if (this.compact) return;
    for (const key of ERRORS.filter((one) => !this.errors().includes(one))) this.drop(key);
    for (const key of this.errors()) {
      const plot = this.plot(key),
        title = this.runs[0].titles[key];
      plot.title.textContent = this.logarithmic ? sized(title) : title;
      plot.remark.textContent = plot.remark.title = common(this.runs.map((run) => run.causes[key]));
      plot.setLines(errors(this.runs, key, this.theme), this.logarithmic);
    }
    for (const part of Object.keys(PARTS)) widest(this.runs, part) ? this.fillPart(part) : this.drop(part);
  }

  /** The errors that all runs have. */
  errors() {
    return ERRORS.filter((key) => this.runs.every((run) => run[key]));
  }

  drop(name) {
    this.plots[name]?.remove();
    delete this.plots[name];
  }

  /** The plot of this name, made where there is none yet. */
  plot(name) {
    const plot = (this.plots[name] ??= new Plot(this.plotsPlace, { seek: (time) => this.seek(time) }));
    plot.timeLabel = withUnit("t", this.runs[0].units.time);
    return plot;
  }

  fillPart(part) {
    const { title, where = "", unit } = PARTS[part],
      plot = this.plot(part),
      many = this.runs.length > 1;
    plot.title.textContent = withUnit(many ? title : title + where, this.runs[0].units[unit]);
    if (many) this.chooser(part, plot.title);
    plot.setLines(components(this.runs, part, this.component[part], this.theme), false);
  }

  /** With several runs one component is drawn; a click in the title chooses another. */
  chooser(part, title) {
    title.append(" ");
    for (let k = 0; k < widest(this.runs, part); k += 1) {
      const choice = button("choice", PARTS[part].name(k), () => {
        this.component[part] = k;
        this.fillPlots();
        this.redraw();
      });
      choice.setAttribute("aria-pressed", String(k === this.component[part]));
      title.append(choice);
    }
  }

  fillAbout() {
    const details = make("details"),
      tables = make("div", "tables");
    details.append(make("summary", "", this.runs.length > 1 ? "About these runs" : "About this run"), tables);
    for (const run of this.runs) {
      const list = make("dl");
      for (const [key, value] of Object.entries(run.about)) list.append(make("dt", "", key), make("dd", "", value));
      tables.append(list);
    }
    const notes = [...new Set(this.runs.flatMap((run) => run.notes))];
    this.about.replaceChildren(make("p", "note", notes.join(" ")), details);
  }

  // --- actions: buttons, keys and programs call these ------------------------------------------------------------------

  seek(time) {
    this.clock.seek(time);
  }

  toggle() {
    this.clock.play(!this.clock.playing);
  }

  play() {
    this.clock.play(true);
  }

  pause() {
    this.clock.play(false);
  }

  speed(up) {
    this.clock.speed = nextSpeed(this.clock.speed, up);
    this.redraw();
  }

  step(direction, far) {
    const { t } = this.runs[0],
      { time, start, end } = this.clock;
    this.pause();
    if (far) return this.seek(time + (direction * (end - start)) / 20);
    const [i, s] = locate(t, time);
    return this.seek(t[Math.max(0, Math.min(t.length - 1, direction > 0 ? i + 1 : s > 0 ? i : i - 1))]);
  }

  switch(name) {
    if (name in idle(this.runs[0], this.rolls)) return;
    if (name === "follow" && this.runs[0].bodies) return this.look(this.whom.next());
    if (name === "follow" && this.switches.buttons.follow.hidden) return;
    this.options[name] = !this.options[name];
    if (name === "poinsot") this.stage.aim(this.runs[0], this.options.poinsot);
    this.redraw();
  }

  /** The camera on all bodies of a system ("all"), on their centre of mass ("centre") or on one (its number). */
  look(who) {
    this.options.who = this.whom.value = who;
    for (const run of this.runs) if (run.bodies) choose(run, who < run.bodies ? who : "all");
    this.component = Object.fromEntries(Object.keys(PARTS).map((part) => [part, liveliest(this.runs[0], part)]));
    this.fillPlots();
    this.paint();
  }

  log() {
    this.logarithmic = !this.logarithmic;
    this.fillPlots();
    this.redraw();
  }

  zoom() {
    this.near = !this.near;
    this.redraw();
  }

  /** What the plots show: all, or a dozen turns of the body around the present time. */
  window() {
    const { time, start, end } = this.clock,
      width = Math.min(end - start, (24 * Math.PI) / Math.max(...this.runs.map(fastest)));
    if (!this.near || !(width < end - start)) return null;
    const left = Math.max(start, Math.min(end - width, time - width / 2));
    return [left, left + width];
  }

  toggleTheme() {
    this.theme.toggle();
    document.dispatchEvent(new CustomEvent("polhode-theme", { detail: this.theme.name }));
    this.paint();
  }

  help() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  /** The picture as a PNG in the reader's downloads. */
  save() {
    const link = Object.assign(document.createElement("a"), { href: this.picture(), download: "polhode.png" });
    link.click();
  }

  picture() {
    this.stage.render(this.clock.time, this.shown());
    return this.canvas.toDataURL("image/png");
  }

  // --- drawing ----------------------------------------------------------------------------------------------------------

  paint() {
    this.stage.paint(() => this.theme.scene());
    for (const plot of Object.values(this.plots)) plot.paint();
    this.cells
      .querySelectorAll("i[data-run]")
      .forEach((mark) => (mark.style.background = this.theme.line(Number(mark.dataset.run))));
    const { omega, momentum } = this.theme.scene();
    this.root.style.setProperty("--omega", omega);
    this.root.style.setProperty("--momentum", momentum);
    this.redraw();
  }

  /** Asks for one frame; while it plays every frame asks for the next. */
  redraw() {
    this.asked ??= requestAnimationFrame((now) => {
      this.asked = null;
      this.clock.tick(now);
      this.stage.sharpness.frame(this.clock.playing ? now : null);
      this.draw();
      if (this.clock.playing) this.redraw();
    });
  }

  /** Plots one above the other have their time axes in line: all labels get the room that the widest need. */
  align() {
    const plots = Object.values(this.plots),
      width = Math.max(...plots.map((plot) => plot.needed));
    for (const plot of plots) plot.widen(width);
  }

  draw() {
    const window = this.window();
    this.align();
    this.stage.render(this.clock.time, this.shown(), !this.clock.playing);
    for (const plot of Object.values(this.plots)) plot.show(this.clock.time, valueAt, window);
    this.transport.show(this.clock, this.runs[0].units.time);
    this.switches.show(this.options, idle(this.runs[0], this.rolls));
    this.logButton.setAttribute("aria-pressed", String(this.logarithmic));
    this.zoomButton.setAttribute("aria-pressed", String(Boolean(this.near)));
    this.key.querySelectorAll("span").forEach((part) => (part.hidden = !this.options.arrows));
    this.turned.hidden = !this.options.poinsot;
    this.scale.textContent = [this.enlarged(), this.slowed()].filter(Boolean).join(". ");
  }

  /** What the stage draws by. */
  shown() {
    return { ...this.options, slowness: slowness(this.runs, this.clock.speed) };
  }

  /** How much larger than life bodies are drawn, in words. */
  enlarged() {
    const { poinsot, follow, who } = this.options,
      one = ({ run, flight }) => (run.bodies ? (view) => view.scales(who) : flight ? () => flight.scales(follow) : null),
      most = Math.max(...this.stage.views.map((view) => one(view)?.(view).enlarged ?? 1)),
      what = this.runs[0].bodies ? "Bodies are" : "The body is";
    return poinsot || most < 1.5 ? "" : `${what} drawn about ${number(most, 2)} times ${this.runs[0].bodies ? "their" : "its"} size`;
  }

  /** How much slower than life rotors are drawn, in words. */
  slowed() {
    const { slowness, poinsot } = this.shown();
    return poinsot || slowness === 1 ? "" : `Rotors are drawn turning ${number(slowness, 2)} times slower than they do`;
  }

  /** What is shown, for programs and tests. */
  state() {
    const { time, playing, speed, start, end } = this.clock;
    return {
      time,
      playing,
      speed,
      start,
      end,
      theme: this.theme.name,
      ...this.options,
      logarithmic: this.logarithmic,
      near: Boolean(this.near),
      runs: this.runs.map((run, i) => ({
        label: run.label,
        frames: run.t.length,
        ...this.stage.views[i].state(time),
      })),
      ticks: Object.fromEntries(Object.entries(this.plots).map(([key, plot]) => [key, plot.ticks])),
    };
  }

  remove() {
    this.stopKeys();
    this.sizes.disconnect();
    cancelAnimationFrame(this.asked);
    Object.values(this.plots).forEach((plot) => plot.remove());
    this.stage.dispose();
    this.root.remove();
  }
}
