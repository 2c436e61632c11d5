// Plots against time: the cursor follows the clock, a click or a drag moves it.

import uPlot from "uplot";
import { number, tickLabels } from "./format.js";

const FONT = '11px ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif';

/** `lines`: [{label, colour: () => css, t, y, dash?}]; they may have different times. */
export class Plot {
  constructor(place, { title = "", seek = null, tall = 120 } = {}) {
    this.place = place;
    this.seek = seek;
    this.tall = tall;
    this.log = false;
    this.timeLabel = "t";
    this.needed = this.width = 0; // of the labels of the second axis: what they need, and what they get
    this.element = make("section", "plot");
    const head = make("header", "plot-head");
    this.title = make("h3", "", title);
    this.remark = make("span", "plot-remark");
    this.legend = make("div", "plot-legend");
    head.append(this.title, this.remark, this.legend);
    this.canvas = make("div", "plot-canvas");
    this.element.append(head, this.canvas);
    place.append(this.element);
    this.cursor = make("div", "plot-cursor");
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.canvas);
  }

  setLines(lines, log = this.log) {
    this.lines = lines;
    this.span = [Math.min(...lines.map(({ t }) => t[0])), Math.max(...lines.map(({ t }) => t[t.length - 1]))];
    this.log = log;
    this.legend.replaceChildren(
      ...lines.map((line) => {
        const item = make("span", "plot-key"),
          mark = make("i");
        line.value = make("b");
        if (line.label) item.append(mark, make("span", "", line.label));
        item.append(line.value);
        line.mark = mark;
        return item;
      }),
    );
    this.chart?.destroy();
    this.chart = new uPlot(this.options(), this.data(), this.canvas);
    this.chart.over.append(this.cursor);
    if (this.seek) this.listen(this.chart.over);
    this.paint();
    requestAnimationFrame(() => this.resize()); // the legend may have become taller
  }

  data() {
    const drawn = this.lines.map(({ t, y }) => [t, this.log ? Array.from(y, (v) => Math.abs(v) || null) : y]);
    const same = drawn.every(([t]) => t === drawn[0][0]);
    return same ? [drawn[0][0], ...drawn.map(([, y]) => y)] : uPlot.join(drawn);
  }

  options() {
    const css = (name) => () => getComputedStyle(this.element).getPropertyValue(name);
    const axis = {
      stroke: css("--muted"),
      font: FONT,
      grid: { stroke: css("--hair"), width: 1 },
      ticks: { show: false },
      gap: 6,
    };
    return {
      width: Math.max(80, this.canvas.clientWidth),
      height: this.height(),
      legend: { show: false },
      padding: [8, 20, 0, 0],
      cursor: { show: false, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (u, low, high) => this.window ?? [low, high] },
        y: this.log ? { distr: 3, log: 10 } : { range: (u, low, high) => margin(low, high) },
      },
      axes: [
        {
          ...axis,
          size: 22,
          space: 60,
          label: this.timeLabel,
          labelFont: FONT,
          labelSize: 15,
          labelGap: 0,
          values: (u, ticks) => tickLabels(ticks),
        },
        {
          ...axis,
          size: (u, labels) => Math.max((this.needed = room(labels)), this.width),
          space: 16, // two ticks in the lowest plot, whatever the range
          splits: this.log ? (u, i, low, high) => powers(low, high) : evenly,
          ...(this.log ? { filter: (u, ticks) => ticks } : {}),
          values: (u, ticks) => (this.ticks = this.log ? ticks.map((v) => number(v, 1)) : tickLabels(ticks)),
        },
      ],
      series: [
        {},
        ...this.lines.map((line) => ({
          stroke: line.colour,
          width: 1.4,
          dash: line.dash,
          spanGaps: true,
          points: { show: false },
        })),
      ],
    };
  }

  listen(over) {
    over.style.cursor = "crosshair";
    const at = (event) => this.seek(this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    let held = false;
    over.addEventListener("pointerdown", (event) => {
      held = true;
      over.setPointerCapture(event.pointerId);
      at(event);
    });
    over.addEventListener("pointermove", (event) => held && at(event));
    for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, () => (held = false));
  }

  /** The cursor at a time, and the values there; `window` is the part of the axis shown, null for all of it. */
  show(time, valuesAt, window = null) {
    const [low, high] = window ?? this.span;
    if (window || this.window) {
      this.window = window;
      this.chart.setScale("x", { min: low, max: high });
    }
    this.cursor.style.transform = `translateX(${((time - low) / (high - low)) * this.chart.over.clientWidth}px)`;
    this.lines.forEach((line) => (line.value.textContent = number(valuesAt(line, time))));
  }

  /** At least this much room for the labels of the second axis. */
  widen(width) {
    if (width === this.width) return;
    this.width = width;
    this.chart.redraw(false, true);
  }

  resize() {
    if (this.chart && this.canvas.clientWidth) this.chart.setSize({ width: this.canvas.clientWidth, height: this.height() });
  }

  height() {
    return Math.max(this.tall, this.canvas.clientHeight);
  }

  paint() {
    this.lines.forEach((line) => (line.mark.style.background = line.colour()));
    this.chart.redraw(false); // a full redraw before the first one would forget the span
  }

  remove() {
    this.observer.disconnect();
    this.chart?.destroy();
    this.element.remove();
  }
}

/** A little room above and below; a constant is drawn in the middle. */
function margin(low, high) {
  if (low == null) return [-1, 1];
  const room = high > low ? 0.08 * (high - low) : Math.abs(low) || 1e-15;
  return [low - room, high + room];
}

const pen = document.createElement("canvas").getContext("2d");

/** How wide the widest label is, with a gap: no minus sign is cut off. */
function room(labels) {
  pen.font = FONT;
  return Math.max(62, ...(labels ?? []).map((label) => Math.ceil(pen.measureText(label ?? "").width) + 14));
}

/** Ticks of an even axis, so far apart; uPlot knows no distances below 1e-16. */
function evenly(u, axis, low, high, apart) {
  const least = (high - low) / 4,
    power = 10 ** Math.floor(Math.log10(least)),
    gap = high - low > 1e-14 ? apart : power * [1, 2, 5, 10].find((k) => k * power >= least),
    found = [];
  for (let k = Math.ceil(low / gap - 1e-9); k <= high / gap + 1e-9; k += 1) found.push(Number((k * gap).toPrecision(12)));
  return found;
}

/** Ticks of a logarithmic axis: powers of ten, so few that their labels do not touch. */
function powers(low, high) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / 5)),
    found = [];
  for (let power = first; power <= last; power += 1) if (power % every === 0) found.push(10 ** power);
  return found;
}

export function make(tag, name = "", text = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}
