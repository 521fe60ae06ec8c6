// Signals over each other, such as force over deformation; the last point is marked.
import { Ring } from "./ring.js";
import { Sheet, frame } from "./axes.js";
import { colour, element, key, look } from "./look.js";

const points = 4000, narrowest = 0.35;

export class Loop {
  constructor(chart, about, height = 250) {
    this.chart = chart;
    this.factors = chart.lines.map(() => 1);
    this.ring = new Ring();
    this.sheet = new Sheet(height, `${chart.title}: ${chart.y[0]} over ${chart.x[0]}`);
    const legend = chart.lines.length > 1 ? chart.lines.map(line => key(line.name, line.series)) : [];
    this.box = element("figure", {}, element("figcaption", {}, element("b", {}, chart.title), ...legend),
      this.sheet.canvas);
  }

  view() { return { kind: "paths", pairs: this.chart.lines.map(line => [line.x, line.y]), points }; }

  take(part, numbers) { this.ring.put(part, numbers, this.factors, points / 4); }

  range(name, low, high) { // as that of a history
    if (!(low <= high)) return this[name] || [-1, 1];
    const room = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1, [bottom, top] = this[name] || [low, high];
    if (!this[name] || low < bottom || high > top || high - low < narrowest * (top - bottom)) {
      this[name] = [low - room, high + room];
    }
    return this[name];
  }

  draw() {
    if (!this.sheet.begin()) return;
    const { chart, ring, sheet } = this, { pen } = sheet, fx = chart.x[2], fy = chart.y[2], count = ring.length;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const line of ring.values) {
      for (let k = 0; k < count; k += 2) {
        const x = line[k], y = line[k + 1];
        if (x < left) left = x;
        if (x > right) right = x;
        if (y < low) low = y;
        if (y > high) high = y;
      }
    }
    const named = ([word, unit]) => unit ? `${word} [${unit}]` : word;
    const xs = this.range("across", fx * left, fx * right), ys = this.range("up", fy * low, fy * high);
    const [X, Y] = frame(sheet, xs, ys, [named(chart.x), named(chart.y)]);
    pen.lineWidth = 1; // a thin line is drawn several times as fast
    pen.lineJoin = "round";
    if (chart.ideal) {
      const ends = [Math.max(xs[0], ys[0]), Math.min(xs[1], ys[1])];
      pen.strokeStyle = look.axis;
      sheet.line(X(ends[0]), Y(ends[0]), X(ends[1]), Y(ends[1]));
    }
    ring.values.forEach((line, n) => {
      const paint = colour(chart.lines[n].series);
      pen.strokeStyle = pen.fillStyle = paint;
      pen.beginPath();
      for (let k = 0; k < count; k += 2) pen.lineTo(X(fx * line[k]), Y(fy * line[k + 1]));
      pen.stroke();
      if (count && Number.isFinite(line[count - 1])) {
        pen.beginPath();
        pen.arc(X(fx * line[count - 2]), Y(fy * line[count - 1]), 4, 0, 7);
        pen.fill();
      }
    });
  }

  resize() { this.draw(); }

  repaint() { this.draw(); }
}
