// A frame with ticks on a canvas, linear or logarithmic, for what is not over time.
import { look, roundDown, short } from "./look.js";

const left = 62, right = 10, top = 8, bottom = 36;

export class Sheet { // a canvas that is as sharp as the screen
  constructor(height, label) {
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.canvas.style.height = `${height}px`;
    this.pen = this.canvas.getContext("2d");
  }

  begin() { // ready to draw from nothing; false where there is no room
    const { clientWidth: width, clientHeight: height } = this.canvas, sharp = devicePixelRatio || 1;
    if (!width || !height) return false;
    if (this.canvas.width !== Math.round(width * sharp) || this.canvas.height !== Math.round(height * sharp)) {
      this.canvas.width = Math.round(width * sharp);
      this.canvas.height = Math.round(height * sharp);
    }
    Object.assign(this, { width, height });
    this.pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    return true;
  }

  text(words, x, y, align = "left", paint = look.soft) {
    this.pen.font = "12px system-ui, sans-serif";
    this.pen.textAlign = align;
    this.pen.fillStyle = paint;
    this.pen.fillText(words, x, y);
  }

  line(x0, y0, x1, y1) {
    this.pen.beginPath();
    this.pen.moveTo(x0, y0);
    this.pen.lineTo(x1, y1);
    this.pen.stroke();
  }
}

function linearTicks([low, high]) {
  const step = roundDown((high - low) / 3), ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) ticks.push(Number((k * step).toPrecision(6)));
  return ticks;
}

function decades([low, high]) {
  const ticks = [];
  for (let k = Math.ceil(Math.log10(low) - 1e-9); 10 ** k <= high * 1.0001; k += 1) ticks.push(10 ** k);
  return ticks;
}

function decade(value) { // 100, 1000, 10⁴
  const power = Math.round(Math.log10(value));
  return power < 4 ? short(value) : `10${[...String(power)].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
}

export function frame(sheet, x, y, labels, log = false) { // returns where values lie on the sheet
  const { pen, width, height } = sheet, w = width - left - right, h = height - top - bottom;
  const to = log ? Math.log10 : value => value;
  const place = ([low, high]) => value => (to(value) - to(low)) / (to(high) - to(low));
  const [px, py] = [place(x), place(y)];
  const X = value => left + w * px(value), Y = value => top + h * (1 - py(value));
  pen.lineWidth = 1;
  pen.strokeStyle = look.line;
  const said = log ? decade : short;
  for (const tick of (log ? decades : linearTicks)(x)) {
    sheet.line(X(tick), top, X(tick), top + h);
    sheet.text(said(tick), X(tick), top + h + 15, "center");
  }
  for (const tick of (log ? decades : linearTicks)(y)) {
    sheet.line(left, Y(tick), left + w, Y(tick));
    sheet.text(said(tick), left - 6, Y(tick) + 4, "right");
  }
  pen.strokeStyle = look.axis;
  if (!log) {
    if (x[0] < 0 && x[1] > 0) sheet.line(X(0), top, X(0), top + h);
    if (y[0] < 0 && y[1] > 0) sheet.line(left, Y(0), left + w, Y(0));
  }
  sheet.text(labels[0], left + w, top + h + 31, "right");
  pen.save();
  pen.translate(11, top);
  pen.rotate(-Math.PI / 2);
  sheet.text(labels[1], 0, 0, "right");
  pen.restore();
  return [X, Y];
}
