// What the page calls: polhode.mount(element, runs, options), polhode.chart(element, title, t, lines) and
// polhode.play(element, catalogue, token).

import "uplot/dist/uPlot.min.css";
import "./style.css";

export { chart } from "./chart.js";
export { play } from "./play.js";
export { mount } from "./viewer.js";
