// Colours of the page for what is drawn on canvases, numbers as people read them, and elements made of text alone.
const palette = ["#2f7cc1", "#d5652a", "#2a9d78", "#a06cc4", "#b8942a", "#d1567f", "#6b8e23", "#4a90a4"];
const names = ["ink", "soft", "line", "axis", "back", "panel"];
export const look = {};

export function refreshLook() {
  const style = getComputedStyle(document.documentElement);
  for (const name of names) look[name] = style.getPropertyValue(`--${name}`).trim();
}

export const colour = series => palette[series % palette.length];

export function watchLook(changed) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { refreshLook(); changed(); });
}

export function element(tag, settings = {}, ...children) { // strings become text, never markup
  const made = Object.assign(document.createElement(tag), settings);
  made.append(...children);
  return made;
}

export function key(name, series) { // a stroke of the line's colour, and its name
  const ns = "http://www.w3.org/2000/svg", drawing = document.createElementNS(ns, "svg");
  const stroke = document.createElementNS(ns, "line");
  for (const [at, value] of Object.entries({ x1: 0, y1: 5, x2: 18, y2: 5, "stroke-width": 3, stroke: colour(series) })) {
    stroke.setAttribute(at, value);
  }
  drawing.setAttribute("viewBox", "0 0 18 10");
  drawing.setAttribute("aria-hidden", "true");
  drawing.append(stroke);
  return element("span", { className: "key" }, drawing, name);
}

export const minus = text => text.replace("-", "−");
export const seconds = time => time < 1000 ? time.toFixed(1) : time.toFixed(0);

export function short(value) { // three digits
  if (value === 0 || !Number.isFinite(value)) return "0";
  const size = Math.abs(value);
  return minus(size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3))));
}

export function ticks(values, step) { // with as many digits as tell them apart
  const least = Math.floor(Math.log10(step) + 1e-9), most = Math.max(...values.map(Math.abs));
  if (most < 1e5 && least > -4) return values.map(value => minus(value.toFixed(Math.max(0, -least))));
  return values.map(value => value === 0 ? "0"
    : minus(value.toExponential(Math.max(0, Math.floor(Math.log10(Math.abs(value))) - least))));
}

export function roundDown(value) { // to 1, 2 or 5 times a power of ten
  const power = 10 ** Math.floor(Math.log10(value)), part = value / power;
  return Number(((part >= 5 ? 5 : part >= 2 ? 2 : 1) * power).toPrecision(1));
}
