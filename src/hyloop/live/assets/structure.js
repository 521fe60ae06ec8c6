// The structure as it stands at the place in time, its displacements enlarged.
import { Sheet } from "./axes.js";
import { colour, element, look, roundDown } from "./look.js";

export class Structure {
  constructor(picture, height = 300) {
    Object.assign(this, picture);
    this.values = Float32Array.from(picture.rest);
    this.largest = 0;
    this.sheet = new Sheet(height, "The structure as it moves");
    this.box = element("figure", {}, element("figcaption", {}, element("b", {}, "Structure")), this.sheet.canvas);
  }

  view() { return { kind: "values", signals: this.signals, points: 1 }; }

  take(part, numbers) {
    numbers.forEach((value, k) => { this.values[k] = Number.isFinite(value) ? value : this.rest[k]; });
  }

  moved(motion) {
    if (motion < 0) return 0;
    return this.motions[motion].reduce((sum, [k, weight]) => sum + weight * (this.values[k] - this.rest[k]), 0);
  }

  draw() {
    const { sheet } = this, { pen } = sheet;
    if (!sheet.begin()) return;
    const xs = this.nodes.map(node => node[0]), ys = this.nodes.map(node => node[1]);
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const size = Math.max(right - left, high - low, 1e-9), room = 0.14 * size;
    const scale = Math.min(sheet.width / (right - left + 2.2 * room), (sheet.height - 34) / (high - low + 0.3 * room));
    const enlarged = this.largest > 0 ? roundDown(room / this.largest) : 1;
    const middle = sheet.width / 2, foot = sheet.height - 22;
    const places = this.nodes.map(([x, y, across, up]) => [
      middle + scale * (x - (left + right) / 2 + enlarged * this.moved(across)),
      foot - scale * (y - low + enlarged * this.moved(up))]);
    pen.lineCap = "round";
    pen.strokeStyle = look.axis;
    pen.lineWidth = 1.5;
    sheet.line(0.08 * sheet.width, foot, 0.92 * sheet.width, foot);
    for (const [i, j, site] of this.lines) {
      pen.strokeStyle = site === -1 ? look.ink : site < 0 ? look.soft : colour(site);
      pen.lineWidth = site === -1 ? (this.lines.length > 150 ? 0.7 : 2) : 3;
      sheet.line(...places[i], ...places[j]);
    }
    sheet.text(`motion × ${enlarged}`, middle, foot + 17, "center");
  }

  resize() { this.draw(); }

  repaint() { this.draw(); }
}
