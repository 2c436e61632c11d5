// What the page calls: polhode.mount(element, runs, options), polhode.chart(element, title, t, lines) and
// polhode.play(element, catalogue, polhode.server(token) or polhode.local(script of a worker, catalogue)).

import "uplot/dist/uPlot.min.css";
import "./style.css";

export { chart } from "./chart.js";
export { play } from "./play.js";
export { local, server } from "./sources.js";
export { mount } from "./viewer.js";
