// Whom the camera follows in a system: all bodies, their centre of mass, or one of them.

import { make } from "./plots.js";

export class Chooser {
  /** `change(who)`: "all", "centre" or the number of a body. */
  constructor(change) {
    this.element = make("select", "whom");
    this.element.title = "What the camera follows (F)";
    this.element.setAttribute("aria-label", "What the camera follows");
    this.element.addEventListener("change", () => change(this.value));
  }

  /** The bodies of these runs to choose from; what was chosen stays. */
  offer(runs) {
    const before = this.element.value,
      { bodies, names } = runs.find((run) => run.bodies) ?? { bodies: 0, names: [] };
    this.element.hidden = !bodies;
    this.choices = ["all", "centre", ...names.map((_, i) => i)];
    this.element.replaceChildren(
      ...this.choices.map((who) => {
        const text = who === "all" ? "All bodies" : who === "centre" ? "Centre of mass" : `Body ${names[who]}`;
        return Object.assign(make("option", "", text), { value: String(who) });
      }),
    );
    this.element.value = this.choices.map(String).includes(before) ? before : "all";
  }

  get value() {
    const { value } = this.element;
    return value === "all" || value === "centre" ? value : Number(value);
  }

  set value(who) {
    this.element.value = String(who);
  }

  /** The choice after this one. */
  next() {
    return this.choices[(this.choices.indexOf(this.value) + 1) % this.choices.length];
  }
}
