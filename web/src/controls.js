// Buttons, slider, keys: they call the viewer's actions and show its state.

import { clock as clockText, number } from "./format.js";
import { make } from "./plots.js";

const ICONS = { play: "M7 4.5v15l12.5-7.5z", pause: "M6.5 4.5h4v15h-4zM13.5 4.5h4v15h-4z" };
const KEYS = [
  ["Space", "play, pause"],
  ["← →", "one frame back or forward (with Shift: a twentieth of the run)"],
  ["Home, End", "start, end"],
  ["− +", "slower, faster"],
  ["P", "Poinsot’s construction, for a free body without rotors"],
  ["A", "arrows: angular velocity and momentum"],
  ["R", "path of the third body axis, or of the tip of a top; paths of the bodies of a system"],
  ["B", "body axes"],
  ["F", "follow a body in flight, or show its whole path; of a system, the next body"],
  ["L", "logarithmic error plots"],
  ["Z", "plots around the current time"],
  ["S", "save the picture"],
  ["T", "light or dark"],
  ["?", "this help"],
];

export function button(name, label, action, title = "") {
  const element = make("button", name, label);
  element.type = "button";
  if (title) {
    element.title = title;
    element.setAttribute("aria-label", title);
  }
  element.addEventListener("click", action);
  return element;
}

/** Play, slider, time and speed. */
export class Transport {
  constructor(actions) {
    this.element = make("div", "transport");
    this.play = button("play", "", () => actions.toggle(), "Play or pause (Space)");
    this.play.innerHTML = '<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path fill="currentColor"/></svg>';
    this.slider = make("input", "slider");
    Object.assign(this.slider, { type: "range", step: "any" });
    this.slider.setAttribute("aria-label", "Time");
    this.slider.addEventListener("input", () => actions.seek(Number(this.slider.value)));
    this.time = make("output", "time");
    this.speed = make("span", "speed-value");
    const speed = make("div", "speed");
    speed.append(
      button("", "−", () => actions.speed(false), "Slower (−)"),
      this.speed,
      button("", "+", () => actions.speed(true), "Faster (+)"),
    );
    this.element.append(this.play, this.slider, this.time, speed);
  }

  show({ time, start, end, playing, speed }, unit) {
    this.play.querySelector("path").setAttribute("d", playing ? ICONS.pause : ICONS.play);
    this.play.classList.toggle("on", playing);
    Object.assign(this.slider, { min: start, max: end });
    this.slider.value = time;
    this.slider.style.setProperty("--done", `${end > start ? (100 * (time - start)) / (end - start) : 0}%`);
    this.time.textContent = `t = ${clockText(time, end - start)} ${unit}`.trim();
    this.speed.textContent = `${number(speed, 1)}×`;
  }
}

/** Switches of the picture. */
const FEW = "Drawn for at most 12 bodies";

export class Switches {
  constructor(names, change) {
    this.element = make("div", "switches");
    this.titles = {};
    this.buttons = Object.fromEntries(
      Object.entries(names).map(([key, [label, title]]) => {
        this.titles[key] = title;
        const element = button(`switch switch-${key}`, label, () => change(key), title);
        this.element.append(element);
        return [key, element];
      }),
    );
  }

  show(options, off = {}) {
    for (const [key, element] of Object.entries(this.buttons)) {
      element.setAttribute("aria-pressed", String(Boolean(options[key])));
      element.disabled = key in off;
      element.title = off[key] ?? this.titles[key];
    }
  }
}

/** The switches that do nothing for a run, and why. */
export function idle({ bodies = 0, box, all }, rolls) {
  const crowd = bodies > 0 && !all.omega;
  return {
    ...(rolls ? {} : { poinsot: "Poinsot’s construction needs a free body without rotors that turns" }),
    ...(crowd ? { arrows: FEW, axes: FEW } : {}),
    ...(bodies > 0 && box ? { trace: "Paths are not drawn in a periodic box" } : {}),
  };
}

export function helpDialog() {
  const dialog = make("dialog", "help");
  const list = make("dl");
  for (const [key, text] of KEYS) list.append(make("dt", "", key), make("dd", "", text));
  dialog.append(
    make("h2", "", "Keys"),
    list,
    make(
      "p",
      "",
      "Drag to rotate the view; use the wheel or two fingers to zoom; double-click to reset. Click or drag in a plot to move in time.",
    ),
    button("close", "Close", () => dialog.close()),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}

/** The keyboard; keys typed into a field of the page are left to it. */
export function listenToKeys(actions) {
  const bound = {
    " ": () => actions.toggle(),
    ArrowLeft: (e) => actions.step(-1, e.shiftKey),
    ArrowRight: (e) => actions.step(1, e.shiftKey),
    Home: () => actions.seek(-Infinity),
    End: () => actions.seek(Infinity),
    "-": () => actions.speed(false),
    "+": () => actions.speed(true),
    "=": () => actions.speed(true),
    p: () => actions.switch("poinsot"),
    a: () => actions.switch("arrows"),
    r: () => actions.switch("trace"),
    b: () => actions.switch("axes"),
    f: () => actions.switch("follow"),
    l: () => actions.log(),
    z: () => actions.zoom(),
    s: () => actions.save(),
    t: () => actions.toggleTheme(),
    "?": () => actions.help(),
  };
  const listener = (event) => {
    const field = event.target.closest?.("input:not([type=range]), textarea, select, [contenteditable]");
    const action = bound[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || field || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest?.("button:not(.play), summary")) return; // Space presses the button that has the focus
    event.preventDefault();
    action(event);
  };
  document.addEventListener("keydown", listener);
  return () => document.removeEventListener("keydown", listener);
}
