// Light and dark: the style sheet holds the colours of the page, this file those of the canvas.

/** Okabe and Ito's colours, for runs and for components; readers with any kind of colour vision can tell them apart. */
const LINES = {
  light: ["#0072B2", "#D55E00", "#009E73", "#B8618F", "#A67A00", "#3E8FBF", "#444444"],
  dark: ["#56B4E9", "#F0884A", "#2EC4A0", "#DE9BC1", "#E6B84A", "#9ACDF0", "#C8C8C8"],
};
const SCENES = {
  light: {
    light: "#EAD9BC",
    side: "#F7F4EE",
    pivot: "#3A3D42",
    omega: "#C98A00",
    momentum: "#8C4A78",
    grid: "#C9C5BC",
    plane: "#EFEBE3",
    ink: "#1D2024",
    trace: "#1D2024",
    dark: "#4388B0",
    skin: "#A9C3D3",
  },
  dark: {
    light: "#D9C7A8",
    side: "#BDB9B1",
    pivot: "#E8E6E1",
    omega: "#F2B632",
    momentum: "#E08BC0",
    grid: "#464B54",
    plane: "#23272E",
    ink: "#0F1114",
    trace: "#F3F1EC",
    dark: "#4A93BF",
    skin: "#5E86A0",
  },
};

export class Theme {
  constructor(root) {
    this.root = root;
    this.set(root.dataset.theme || (window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  }

  set(name) {
    this.name = name;
    this.root.dataset.theme = name;
  }

  toggle() {
    this.set(this.name === "dark" ? "light" : "dark");
  }

  line(i) {
    return LINES[this.name][i % LINES[this.name].length];
  }

  scene() {
    return { ...SCENES[this.name], axes: LINES[this.name].slice(0, 3), lines: LINES[this.name] };
  }
}
