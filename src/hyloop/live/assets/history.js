// Signals over time: smallest and largest value of every bucket, drawn by uPlot.
import { Ring } from "./ring.js";
import { colour, element, key, look, ticks } from "./look.js";

const height = 168, narrowest = 0.35; // of what is drawn, when the scale becomes smaller again

function inOrder(line, count) { // of a bucket, first what is nearer to the one before: a slope stays smooth
  let before = 0;
  for (let k = 0; k < count; k += 2) {
    const sum = line[k] + line[k + 1];
    if (k && (line[k] < line[k + 1]) === (sum < before)) [line[k], line[k + 1]] = [line[k + 1], line[k]];
    before = sum;
  }
}

export class History {
  constructor(chart, about) {
    this.chart = chart;
    this.about = about;
    this.signals = [...chart.lines.map(line => line.signal), ...(chart.band || [])];
    this.factors = this.signals.map(() => chart.factor);
    this.ring = new Ring();
    this.times = new Float64Array(0);
    this.room = element("div", { className: "plot" });
    const legend = chart.lines.length > 1 || chart.lines[0].name !== chart.title
      ? chart.lines.map(line => key(line.name, line.series)) : [];
    const unit = chart.unit ? ` [${chart.unit}]` : "";
    this.box = element("figure", {}, element("figcaption", {}, element("b", {}, chart.title + unit), ...legend), this.room);
    this.room.setAttribute("role", "img");
    this.room.setAttribute("aria-label", `${chart.title} over time: ${chart.lines.map(line => line.name).join(", ")}`);
    this.room.style.height = `${height}px`;
  }

  view() {
    this.points = Math.min(Math.max(Math.round(this.room.clientWidth * 0.6), 120), 700);
    return { kind: "histories", signals: this.signals, points: this.points };
  }

  take(part, numbers) { this.ring.put(part, numbers, this.factors, this.points); }

  make() {
    const { chart } = this, lines = chart.lines.map(line => this.stroke(colour(line.series)));
    const band = chart.band ? [this.stroke(colour(2), 0.7), this.stroke(colour(2), 0.7)] : [];
    const first = 1 + lines.length, axis = { stroke: () => look.soft, grid: { stroke: () => look.line, width: 1 },
      ticks: { show: false }, font: "12px system-ui, sans-serif",
      values: (_, values, axis, space, step) => ticks(values, step) };
    this.plot = new uPlot({
      width: this.room.clientWidth, height, padding: [6, 8, 0, 0], legend: { show: false },
      cursor: { show: false }, select: { show: false },
      scales: { x: { time: false, range: () => this.window }, y: { range: (_, low, high) => this.scale(low, high) } },
      series: [{}, ...lines, ...band],
      bands: band.length ? [{ series: [first + 1, first], fill: `${colour(2)}38` }] : [],
      axes: [{ ...axis, size: 26 }, { ...axis, size: 62 }],
      hooks: { draw: [plot => this.levels(plot)] },
    }, [[], ...this.signals.map(() => [])], this.room);
  }

  // a line of one point is drawn several times as fast as a thicker one
  stroke(paint, width = 1) { return { stroke: paint, width, points: { show: false } }; }

  scale(low, high) { // widens at once, narrows only when much is empty
    if (low === null || !(low <= high)) return this.drawn || [-1, 1];
    for (const level of this.chart.levels) [low, high] = [Math.min(low, level), Math.max(high, level)];
    const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    const [bottom, top] = this.drawn || [low, high];
    if (!this.drawn || low < bottom || high > top || high - low < narrowest * (top - bottom)) {
      this.drawn = [low - room, high + room];
    }
    return this.drawn;
  }

  levels({ ctx, bbox, valToPos }) {
    ctx.save();
    ctx.strokeStyle = look.axis;
    ctx.lineWidth = devicePixelRatio;
    for (const level of this.chart.levels) {
      const y = valToPos(level, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }

  draw(at, span) {
    const { ring, about } = this, count = ring.length, bucket = ring.size * about.dt;
    this.window = [Math.max(at - span, about.t0), Math.max(at, about.t0 + span)];
    if (this.times.length < count) this.times = new Float64Array(ring.capacity * ring.width);
    const half = bucket / ring.width, start = about.t0 + ring.begin * bucket;
    for (let k = 0; k < count; k += 1) this.times[k] = start + k * half; // each of both values has a place of its own
    if (ring.size > 1) for (const line of ring.values) inOrder(line, count);
    if (!this.plot) this.make();
    this.plot.setData([this.times.subarray(0, count), ...ring.values.map(line => line.subarray(0, count))]);
  }

  resize() {
    if (this.plot && this.room.clientWidth) this.plot.setSize({ width: this.room.clientWidth, height });
  }

  repaint() { this.plot?.redraw(false, true); }
}
