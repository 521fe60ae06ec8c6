// Ticks over how late they began and how long they computed, both axes logarithmic, with the length of a tick.
import { Sheet, frame } from "./axes.js";
import { colour, element, key, look } from "./look.js";

const first = 0.1, perDecade = 4; // µs: left edge of the counts, and how many in a decade
const kinds = [["lateness", "begins late by"], ["work", "computes for"]];

export class Histogram {
  constructor() {
    this.sheet = new Sheet(250, "Histogram of lateness and computing time of all ticks");
    this.said = element("p");
    const legend = kinds.map(([, words], k) => key(`a tick ${words}`, k));
    this.box = element("figure", {}, this.said, element("figcaption", {}, ...legend), this.sheet.canvas);
  }

  show(pace) {
    this.pace = pace;
    this.said.textContent = pace.sentence;
    this.draw();
  }

  draw() {
    if (!this.pace || !this.sheet.begin()) return;
    const { sheet, pace } = this, { pen } = sheet, counts = kinds.map(([name]) => pace[`${name}, histogram`]);
    const edge = k => first * 10 ** (k / perDecade), most = Math.max(10, ...counts.flat());
    const last = Math.max(...counts.map(row => row.findLastIndex(count => count > 0)));
    const [X, Y] = frame(sheet, [first, Math.max(edge(last + 2), 2 * pace.tick)], [0.7, 1.6 * most], ["µs", "ticks"], true);
    counts.forEach((row, n) => {
      pen.strokeStyle = colour(n);
      pen.lineWidth = 2;
      pen.beginPath();
      row.slice(0, last + 1).forEach((count, k) => {
        if (count) for (const x of [edge(k), edge(k + 1)]) pen.lineTo(X(x), Y(count));
        else pen.moveTo(X(edge(k + 1)), Y(0.7));
      });
      pen.stroke();
    });
    pen.strokeStyle = look.soft;
    pen.setLineDash([3, 4]);
    sheet.line(X(pace.tick), Y(0.7), X(pace.tick), Y(1.6 * most));
    pen.setLineDash([]);
    sheet.text("length of a tick", X(pace.tick) - 5, 20, "right");
  }

  resize() { this.draw(); }

  repaint() { this.draw(); }
}
