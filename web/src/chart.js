// A chart without a clock, for reports: several lines against time, dressed like the page.

import { decode } from "./data.js";
import { Plot } from "./plots.js";
import { Theme } from "./theme.js";

/** @param lines [{label, y}]; `t` and `y` are arrays or text as in a run */
export function chart(place, title, t, lines, { tall = 300 } = {}) {
  const array = (v) => (typeof v === "string" ? decode(v) : v);
  const theme = new Theme(document.documentElement),
    plot = new Plot(place, { title, tall });
  const times = array(t);
  plot.canvas.style.minHeight = `${tall}px`;
  plot.setLines(lines.map(({ label, y }, i) => ({ label, t: times, y: array(y), colour: () => theme.line(i) })));
  plot.cursor.hidden = true;
  document.addEventListener("polhode-theme", (event) => {
    theme.set(event.detail);
    plot.paint();
  });
  return plot;
}
