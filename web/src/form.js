// The form of the playground: each field has a name that the server knows, and a place where its complaint is shown.

import { make } from "./plots.js";

// `factor`: J₁ = (b² + c²) / factor for a mass of 1
const KINDS = {
  box: { label: "Box of 1 kg", names: ["edge a", "edge b", "edge c"], unit: "m", factor: 12 },
  ellipsoid: { label: "Ellipsoid of 1 kg", names: ["semi-axis a", "semi-axis b", "semi-axis c"], unit: "m", factor: 5 },
  moments: { label: "Moments of inertia", names: ["J₁", "J₂", "J₃"], unit: "kg m²" },
};
const digits = (value, count = 4) => Number(value.toPrecision(count));

export class Form {
  /** @param changed called with whether the picture should begin anew */
  constructor(catalogue, changed) {
    this.catalogue = catalogue;
    this.changed = changed;
    this.complaints = {};
    this.element = make("form", "play-form");
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.build();
    this.method.value = catalogue.first;
    this.begin(catalogue.problems[0]);
  }

  build() {
    const { problems, methods } = this.catalogue;
    this.problem = select(problems.map(({ name, title }) => [name, `${title[0].toUpperCase()}${title.slice(1)}`]));
    this.problem.addEventListener("change", () => {
      this.begin(this.chosen());
      this.changed(true);
    });
    this.source = make("p", "play-fact");
    this.kind = select(Object.entries(KINDS).map(([key, { label }]) => [key, label]));
    this.kind.addEventListener("change", () => this.reshape());
    this.sides = [0, 1, 2].map(() => new Slider("", "", this.changed));
    this.spin = [0, 1, 2].map((i) => new Slider(`Ω${"₁₂₃"[i]}`, "rad/s", this.changed));
    this.unphysical = make("input");
    this.unphysical.type = "checkbox";
    this.unphysical.addEventListener("change", () => this.changed());
    this.tick = make("label", "play-tick");
    this.tick.append(this.unphysical, "even if no body has them (check_triangle=False)");
    this.method = new Methods(methods, false, this.changed);
    this.compare = new Methods(methods, true, this.changed);
    this.step = new Slider("Step", "s", this.changed, true);
    this.span = new Slider("Span", "s", this.changed);
    this.element.append(
      this.field("problem", "Problem", this.problem, this.source),
      this.field("body", "Body", this.kind, ...this.sides.map((one) => one.element), this.tick),
      this.field("omega0", "Angular velocity at the start, body axes", ...this.spin.map((one) => one.element)),
      this.field("method", "Method", ...this.method.elements),
      this.field("compare", "Compare with", ...this.compare.elements),
      this.field("step", "", this.step.element),
      this.field("span", "", this.span.element),
    );
  }

  field(name, label, ...parts) {
    const element = make("fieldset", "play-field");
    element.dataset.field = name;
    const complaint = (this.complaints[name] = make("p", "play-complaint"));
    complaint.setAttribute("role", "alert");
    for (const part of parts) {
      const control = part.matches("select") ? part : part.querySelector?.("select");
      control?.setAttribute("aria-label", label);
    }
    if (label) element.append(make("legend", "", label));
    element.append(...parts, complaint);
    return element;
  }

  chosen() {
    return this.catalogue.problems.find(({ name }) => name === this.problem.value);
  }

  /** The values of a problem; the methods stay. */
  begin(problem) {
    this.problem.value = problem.name;
    const { torque, source, assumptions } = problem;
    this.source.textContent = [`${torque[0].toUpperCase()}${torque.slice(1)}`, source, assumptions].filter(Boolean).join(". ");
    this.kind.value = problem.body.kind;
    this.unphysical.checked = problem.body.unphysical;
    this.label(problem.body.values);
    const fastest = Math.max(...problem.omega0.map(Math.abs), 1);
    this.spin.forEach((one, i) => one.set(problem.omega0[i], -1.5 * fastest, 1.5 * fastest));
    this.step.set(problem.step, problem.step / 50, Math.min(problem.span, 20 * problem.step));
    this.span.set(problem.span, 0, 3 * problem.span);
  }

  /** The same inertia as another kind of body; what no body has becomes one that is nearly flat. */
  reshape() {
    const values = this.sides.map((one) => one.value ?? 1),
      [from, to] = [KINDS[this.shape], KINDS[this.kind.value]];
    const [a, b, c] = values.map((x) => x * x);
    const moments = from.factor ? [b + c, c + a, a + b].map((sum) => sum / from.factor) : values;
    const half = (moments[0] + moments[1] + moments[2]) / 2;
    const sides = moments.map((J) => Math.sqrt((to.factor ?? 0) * Math.max(half - J, 1e-3 * half)));
    this.label((to.factor ? sides : moments).map((x) => digits(x)));
    this.changed();
  }

  label(values) {
    const { names, unit } = KINDS[this.kind.value],
      most = 2 * Math.max(...values);
    this.shape = this.kind.value;
    this.tick.hidden = this.shape !== "moments";
    this.sides.forEach((one, i) => {
      one.name(names[i], unit);
      one.set(values[i], most / 400, most);
    });
  }

  /** What is asked for; a field that holds no number gives null. */
  values() {
    return {
      problem: this.problem.value,
      body: { kind: this.kind.value, values: this.sides.map((one) => one.value), unphysical: this.unphysical.checked },
      omega0: this.spin.map((one) => one.value),
      method: this.method.value,
      compare: this.compare.value,
      step: this.step.value,
      span: this.span.value,
    };
  }

  names() {
    const { title, torque } = this.chosen(),
      methods = [this.method.value, this.compare.value].filter(Boolean);
    return {
      title: `${title[0].toUpperCase()}${title.slice(1)}`,
      subtitle: `${methods.join(" and ")}; step ${this.step.value} s; ${torque}`,
    };
  }

  complain(fields) {
    for (const [name, place] of Object.entries(this.complaints)) {
      place.textContent = fields[name] ?? "";
      place.parentElement.classList.toggle("wrong", name in fields);
    }
  }
}

/** A number, to be typed or dragged; what is typed may lie beyond the ends of the slider. */
class Slider {
  constructor(label, unit, changed, logarithmic = false) {
    this.logarithmic = logarithmic;
    this.element = make("div", "play-slider");
    this.label = make("span", "play-name");
    this.bar = Object.assign(make("input"), { type: "range", min: 0, max: 1000, step: 1 });
    this.box = Object.assign(make("input"), { type: "number", step: "any" });
    this.unit = make("span", "play-unit");
    this.element.append(this.label, this.bar, this.box, this.unit);
    this.name(label, unit);
    this.bar.addEventListener("input", () => {
      this.box.value = digits(this.at(this.bar.value / 1000), 3);
      changed();
    });
    this.box.addEventListener("input", () => {
      this.move();
      changed();
    });
  }

  name(label, unit) {
    this.label.textContent = label;
    this.unit.textContent = unit;
    this.bar.setAttribute("aria-label", `${label}, slider`);
    this.box.setAttribute("aria-label", `${label} in ${unit}`);
  }

  set(value, low, high) {
    [this.low, this.high] = [low, high];
    this.box.value = digits(value, 6);
    this.move();
  }

  get value() {
    return Number.isFinite(this.box.valueAsNumber) ? this.box.valueAsNumber : null;
  }

  at(share) {
    return this.logarithmic ? this.low * (this.high / this.low) ** share : this.low + share * (this.high - this.low);
  }

  move() {
    const { low, high, value } = this;
    if (value === null || (this.logarithmic && value <= 0)) return;
    this.bar.value = 1000 * (this.logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  }
}

/** A method by group, with its fact beneath. */
class Methods {
  constructor(methods, optional, changed) {
    this.facts = Object.fromEntries(methods.map(({ name, fact }) => [name, fact]));
    this.list = make("select");
    if (optional) this.list.append(new Option("nothing", ""));
    for (const label of new Set(methods.map((one) => one.group))) {
      const group = make("optgroup");
      group.label = label;
      for (const one of methods) if (one.group === label) group.append(new Option(one.name, one.name));
      this.list.append(group);
    }
    this.fact = make("p", "play-fact");
    this.elements = [this.list, this.fact];
    this.list.addEventListener("change", () => {
      this.tell();
      changed();
    });
  }

  get value() {
    return this.list.value || null;
  }

  set value(name) {
    this.list.value = name ?? "";
    this.tell();
  }

  tell() {
    this.fact.textContent = this.facts[this.list.value] ?? "";
  }
}

function select(options) {
  const element = make("select");
  element.append(...options.map(([value, label]) => new Option(label, value)));
  return element;
}
