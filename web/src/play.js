// play(element, catalogue, asked): the playground. The form asks, the library behind `asked` computes (sources.js), the viewer
// shows; while a newer question is on its way the older one is dropped.

import "./play.css";
import { button } from "./controls.js";
import { number } from "./format.js";
import { make } from "./plots.js";
import { Form } from "./form.js";
import { Theme } from "./theme.js";
import { mount } from "./viewer.js";

const PAUSE = 120; // milliseconds without a change before the library is asked
const QUIET = 250; // milliseconds before it is said how far the work is: most is done by then
const STATES = {
  waiting: () => "waiting for another page",
  preparing: (method) => `preparing ${method}: the first time it is compiled, which takes some seconds`,
  running: (method, share) => `${method}: ${Math.round(100 * share)} %`,
};

export function play(element, catalogue, asked) {
  return new Playground(element, catalogue, asked);
}

class Playground {
  constructor(element, catalogue, asked) {
    new Theme(document.documentElement); // light or dark before there is a picture
    this.asked = asked;
    this.answers = 0; // results shown so far
    this.form = new Form(catalogue, (fresh) => this.changed(fresh));
    this.form.read(location.hash.slice(1));
    window.addEventListener("hashchange", () => {
      this.form.read(location.hash.slice(1));
      this.changed(true);
    });
    this.status = make("p", "play-status");
    this.status.setAttribute("role", "status");
    this.result = make("section", "play-result");
    this.place = make("div", "play-view");
    this.place.append(make("p", "play-first", "Computing the first motion."));
    const panel = make("aside", "play-panel");
    panel.append(make("h1", "", "Playground"), this.form.element, this.status, this.result);
    panel.addEventListener("keydown", (event) => event.stopPropagation()); // keys in the form are the form's
    const root = make("div", "polhode play-page");
    root.append(panel, this.place);
    element.replaceChildren(root);
    this.changed(true);
  }

  /** Asks soon; `fresh` begins the picture anew. */
  changed(fresh = false) {
    this.fresh ||= fresh;
    history.replaceState(null, "", `#${this.form.address()}`);
    this.asking?.abort();
    this.busy = true;
    this.quiet();
    clearTimeout(this.soon);
    this.soon = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    const asking = (this.asking = new AbortController());
    this.later = setTimeout(() => {
      this.loud = true;
      this.say(this.news);
    }, QUIET);
    try {
      for await (const line of this.asked(this.form.values(), asking.signal)) if (!asking.signal.aborted) this.hear(line);
      if (asking.signal.aborted) return;
    } catch (error) {
      if (asking.signal.aborted) return;
      this.quiet();
      this.say(error.message, true);
    }
    this.busy = false;
  }

  hear(line) {
    if (line.state) return this.tell(STATES[line.state](line.method, line.share));
    this.quiet();
    return line.refused ? this.refuse(line.refused) : this.show(line);
  }

  /** How far the work is, once it has taken a while. */
  tell(text) {
    this.news = text;
    if (this.loud) this.say(text);
  }

  quiet() {
    clearTimeout(this.later);
    this.loud = false;
    this.news = "";
  }

  refuse(fields) {
    this.form.complain(fields);
    this.say(fields[""] ?? "The picture shows the last values that could be computed.", true);
    this.root()?.classList.add("old");
  }

  show({ runs, verdicts, code }) {
    this.form.complain({});
    const { title, subtitle } = this.form.names(),
      { poinsot } = this.form.chosen();
    if (!this.viewer) {
      this.viewer = mount(this.place, runs, { title, subtitle, poinsot });
    } else {
      const fresh = this.fresh || runs.length !== this.viewer.runs.length;
      this.viewer.update(runs, { title, subtitle, fresh, ...(this.fresh ? { poinsot } : {}) });
    }
    this.fresh = false;
    this.answers += 1;
    this.root().classList.remove("old");
    this.say(verdicts.map((one) => one.message).filter(Boolean).join(" "), true);
    const share = button("play-copy", "Copy the address of this motion", () => navigator.clipboard?.writeText(location.href));
    this.result.replaceChildren(table(verdicts), python(code), share);
  }

  root() {
    return this.viewer?.root;
  }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong && Boolean(text));
  }

  /** For programs: whether something is on its way, what is asked, and what the viewer shows. */
  state() {
    return { busy: this.busy, answers: this.answers, asked: this.form.values(), viewer: this.viewer?.state() };
  }
}

/** What came out: a column for each method. */
function table(verdicts) {
  const rows = [
    ["", (one) => one.method],
    ["energy error", (one) => one.causes.energy || number(one.energy, 2)],
    ["momentum error", (one) => one.causes.momentum || number(one.momentum, 2)],
    ["steps", (one) => String(one.steps)],
    ["torque evaluations", (one) => (one.evaluations === null ? "none" : String(one.evaluations))],
    ["time", (one) => `${number(1e3 * one.seconds, 2)} ms`],
  ];
  const element = make("table");
  for (const [name, cell] of rows) {
    const row = element.insertRow();
    row.append(make("th", "", name), ...verdicts.map((one) => make(name ? "td" : "th", "", cell(one))));
  }
  return element;
}

function python(code) {
  const details = make("details"),
    copy = button("play-copy", "Copy", () => navigator.clipboard?.writeText(code), "Copy the code");
  details.append(make("summary", "", "The same in Python"), make("pre", "", code), copy);
  return details;
}
