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
    this.problem = grouped(problems.map(({ name, group, title, obstacle }) => ({ name, group, label: capital(title), obstacle })));
    this.problem.addEventListener("change", () => {
      this.begin(this.chosen());
      this.changed(true);
    });
    this.source = make("p", "play-fact");
    this.first = new Start(this.changed);
    this.second = new Start(this.changed);
    this.beside = tick("a second body beside the first", () => {
      this.second.copy(this.first);
      this.show();
      this.changed(true);
    });
    this.wheel = new Slider("Wheel", "rad/s", this.changed);
    this.weight = new Slider("Weight × arm", "N m", this.changed);
    this.damping = new Slider("Damping", "N m s", this.changed);
    this.method = new Methods(methods, false, this.changed);
    this.compare = new Methods(methods, true, this.changed);
    this.step = new Slider("Step", "s", this.changed, true);
    this.span = new Slider("Span", "s", this.changed);
    const { first, second } = this;
    this.element.append(
      this.field("problem", "Problem", this.problem, this.source),
      this.field("body", "Body", ...first.shape),
      this.field("omega0", "Angular velocity at the start, body axes", ...first.spin.map((one) => one.element)),
      this.field("tilt", "", first.tilt.element),
      (this.wheelPlace = this.field("wheel", "", this.wheel.element)),
      this.field("second", "", this.beside.element, (this.secondPlace = make("div", "play-second"))),
      this.field("weight", "", this.weight.element),
      this.field("damping", "", this.damping.element),
      this.field("method", "Method", ...this.method.elements),
      this.field("compare", "Compare with", ...this.compare.elements),
      this.field("step", "", this.step.element),
      this.field("span", "", this.span.element),
    );
    this.secondPlace.append(...second.shape, ...second.spin.map((one) => one.element), second.tilt.element);
    second.kind.setAttribute("aria-label", "Second body");
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
    return this.catalogue.problems.find(({ name }) => name === this.problem.value) ?? this.catalogue.problems[0];
  }

  /** The values of a problem; the methods stay. */
  begin(problem) {
    this.problem.value = problem.name;
    const { source, assumptions } = problem;
    this.source.textContent = [source, assumptions].filter(Boolean).join(". ") + ".";
    this.first.begin(problem);
    this.beside.box.checked = false;
    const heaviest = Math.max(...problem.moments) * Math.max(1, ...problem.omega0.map((x) => x * x));
    const fastest = 2 * Math.max(Math.abs(problem.wheel ?? 0), 50);
    this.wheel.set(problem.wheel ?? 0, -fastest, fastest);
    this.weight.set(problem.weight, 0, 3 * (problem.weight || heaviest));
    this.damping.set(0, 0, Math.max(...problem.moments));
    this.step.set(problem.step, problem.step / 50, Math.min(problem.span, 20 * problem.step));
    this.span.set(problem.span, 0, 3 * problem.span);
    this.show();
  }

  show() {
    this.secondPlace.hidden = !this.beside.box.checked;
    this.wheelPlace.hidden = this.chosen().wheel === null;
  }

  /** What is asked for; a field that holds no number gives null. */
  values() {
    return {
      problem: this.problem.value,
      ...this.first.values(),
      second: this.beside.box.checked ? this.second.values() : null,
      wheel: this.wheel.value,
      weight: this.weight.value,
      damping: this.damping.value,
      method: this.method.value,
      compare: this.compare.value,
      step: this.step.value,
      span: this.span.value,
    };
  }

  // --- the address: everything that is asked for, after the # ------------------------------------------------------------

  address() {
    const { problem, second, method, compare, ...rest } = this.values();
    const words = { problem, ...addressWords(rest), method };
    if (compare) words.compare = compare;
    if (second) for (const [key, value] of Object.entries(addressWords(second))) words[`${key}2`] = value;
    for (const key of this.numbers()) words[key] = rest[key] ?? "";
    return new URLSearchParams(words).toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  }

  /** The fields of one number each. */
  numbers() {
    return [...(this.wheelPlace.hidden ? [] : ["wheel"]), "weight", "damping", "step", "span"];
  }

  /** The values of an address; what it leaves out is the problem's. */
  read(address) {
    const words = new URLSearchParams(address);
    if (!words.has("problem")) return;
    const asked = words.get("problem");
    this.problem.value = asked;
    this.begin(this.chosen());
    if (this.problem.value !== asked) this.source.textContent = `There is no problem ${asked}; the first in the list is shown.`;
    this.first.read(words, "");
    this.beside.box.checked = words.has("body2");
    this.second.copy(this.first);
    this.second.read(words, "2");
    for (const key of this.numbers()) if (words.has(key)) this[key].type(words.get(key));
    if (words.has("method")) this.method.value = words.get("method");
    this.compare.value = words.get("compare");
    this.show();
  }

  names() {
    const { title, torque } = this.chosen(),
      methods = [this.method.value, this.compare.value].filter(Boolean),
      [weight, damping] = [this.weight.value, this.damping.value],
      wheel = this.wheelPlace.hidden ? "" : `wheel at ${digits(this.wheel.value ?? 0)} rad/s`;
    const acting = [torque, wheel, weight && `weight ${digits(weight)} N m`, damping && `damping ${digits(damping)} N m s`].filter(Boolean);
    return {
      title: capital(title),
      subtitle: `${methods.join(" and ")}; step ${this.step.value} s; ${acting.join(", ") || "no torque"}`,
    };
  }

  complain(fields) {
    for (const [name, place] of Object.entries(this.complaints)) {
      place.textContent = fields[name] ?? "";
      place.parentElement.classList.toggle("wrong", name in fields);
    }
  }
}

/** A body and its motion at the start. */
class Start {
  constructor(changed) {
    this.changed = changed;
    this.kind = select(Object.entries(KINDS).map(([key, { label }]) => [key, label]));
    this.kind.addEventListener("change", () => this.reshape());
    this.sides = [0, 1, 2].map(() => new Slider("", "", changed));
    this.unphysical = tick("even if no body has them (check_triangle=False)", () => changed());
    this.spin = [0, 1, 2].map((i) => new Slider(`Ω${"₁₂₃"[i]}`, "rad/s", changed));
    this.tilt = new Slider("Tilt", "°", changed);
    this.shape = [this.kind, ...this.sides.map((one) => one.element), this.unphysical.element];
  }

  begin({ body, omega0, tilt }) {
    this.kind.value = body.kind;
    this.unphysical.box.checked = body.unphysical;
    this.label(body.values);
    const fastest = Math.max(...omega0.map(Math.abs), 1);
    this.spin.forEach((one, i) => one.set(omega0[i], -1.5 * fastest, 1.5 * fastest));
    this.tilt.set(tilt, 0, 180);
  }

  copy(other) {
    const { body, omega0, tilt } = other.values();
    this.begin({ body: { ...body, values: body.values.map((x) => x ?? 1) }, omega0: omega0.map((x) => x ?? 0), tilt: tilt ?? 0 });
  }

  /** The same inertia as another kind of body; what no body has becomes one that is nearly flat. */
  reshape() {
    const values = this.sides.map((one) => one.value ?? 1),
      [from, to] = [KINDS[this.shown], KINDS[this.kind.value]];
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
    this.shown = this.kind.value;
    this.unphysical.element.hidden = this.shown !== "moments";
    this.sides.forEach((one, i) => {
      one.name(names[i], unit);
      one.set(values[i], most / 400, most);
    });
  }

  values() {
    return {
      body: { kind: this.kind.value, values: this.sides.map((one) => one.value), unphysical: this.unphysical.box.checked },
      omega0: this.spin.map((one) => one.value),
      tilt: this.tilt.value,
    };
  }

  /** The words of an address: `body=box,0.2,0.13,0.03`, `omega0=0,6,0`, `tilt=30`, with a number after each name for a second body. */
  read(words, number) {
    const list = (key) => words.get(key + number)?.split(",") ?? null;
    const [body, omega0, tilt] = [list("body"), list("omega0"), words.get(`tilt${number}`)];
    if (body && body[0] in KINDS) {
      this.kind.value = body[0];
      this.unphysical.box.checked = body[4] === "unphysical";
      this.label([1, 2, 3].map((i) => Math.abs(Number(body[i])) || 1));
      this.sides.forEach((one, i) => one.type(body[i + 1] ?? ""));
    }
    if (omega0) this.spin.forEach((one, i) => one.type(omega0[i] ?? ""));
    if (tilt !== null) this.tilt.type(tilt);
  }
}

/** A start as the words of an address. */
function addressWords({ body, omega0, tilt }) {
  const { kind, values, unphysical } = body;
  return {
    body: [kind, ...values.map((x) => x ?? ""), ...(unphysical ? ["unphysical"] : [])].join(),
    omega0: omega0.map((x) => x ?? "").join(),
    tilt: String(tilt ?? ""),
  };
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
    this.given = { value, text: this.box.value };
    this.move();
  }

  /** A value as a reader would type it. */
  type(text) {
    this.box.value = text;
    this.move();
  }

  /** The value as it was set, in all its digits, until another one is typed; null where there is none. */
  get value() {
    if (this.box.value === this.given.text) return this.given.value;
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
    this.list = grouped(methods.map(({ name, group, obstacle }) => ({ name, group, label: name, obstacle })));
    if (optional) this.list.prepend(new Option("nothing", "", true, true));
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

/** A list of choices by group; one with an obstacle cannot be chosen. */
function grouped(entries) {
  const element = make("select");
  for (const label of new Set(entries.map((one) => one.group))) {
    const group = Object.assign(make("optgroup"), { label });
    for (const one of entries) {
      if (one.group !== label) continue;
      const option = new Option(one.label, one.name);
      if (one.obstacle) Object.assign(option, { disabled: true, text: `${one.label} (polhode play alone)`, title: one.obstacle });
      group.append(option);
    }
    element.append(group);
  }
  return element;
}

/** A box to tick, with its words. */
function tick(text, changed) {
  const element = make("label", "play-tick"),
    box = Object.assign(make("input"), { type: "checkbox" });
  box.addEventListener("change", changed);
  element.append(box, text);
  return { element, box };
}

const capital = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
