"use strict";
// Plays a building under its record: see hyloop.report.movie for what the data are.
const palette = ["#2f7cc1", "#d5652a", "#2a9d78", "#a06cc4", "#b8942a", "#d1567f"];
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const counts = (text, unit) => Float32Array.from(
  new Int16Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer), count => unit * count);
const extent = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

class Player {
  constructor(box) {
    this.box = box;
    this.canvas = box.querySelector("canvas");
    [this.button, this.slider, this.clock] = box.querySelectorAll("button, input, output");
    const data = JSON.parse(document.querySelector(`script[data-for="${box.id}"]`).textContent);
    Object.assign(this, data);
    this.motions = counts(data.motions, data.unit);
    this.others = data.others && counts(data.others, data.unit);
    this.ground = data.ground.map(floats);
    this.loops = data.loops.map(loop => ({ ...loop, lines: loop.lines.map(line => line.map(floats)) }));
    this.frames = this.motions.length / this.columns;
    this.duration = (this.frames - 1) * this.dt;
    this.largest = Math.max(extent(this.motions), this.others ? extent(this.others) : 0);
    this.time = 0;
    this.playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.time = this.duration; // without motion: everything there is
    this.button.addEventListener("click", () => this.play(!this.playing));
    this.slider.addEventListener("input", () => { this.play(false); this.show(this.slider.value / 1000 * this.duration); });
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resize());
    addEventListener("beforeprint", () => { this.play(false); this.show(this.duration); });
    this.resize();
    if (this.playing) { this.time = 0; this.play(true); } else this.play(false);
  }

  play(on) {
    this.playing = on;
    this.button.textContent = on ? "pause" : "play";
    if (!on) return;
    if (this.time >= this.duration) this.time = 0;
    const begin = performance.now() / 1000 - this.time;
    const step = () => {
      if (!this.playing) return;
      this.show(Math.min(performance.now() / 1000 - begin, this.duration));
      if (this.time < this.duration) requestAnimationFrame(step); else this.play(false);
    };
    requestAnimationFrame(step);
  }

  resize() {
    const narrow = this.canvas.clientWidth < 620, sharp = devicePixelRatio || 1;
    const rows = Math.ceil(this.loops.length / 2);
    this.canvas.style.height = narrow ? `${330 + 170 * Math.min(rows, 3)}px` : `${this.box.dataset.height || 470}px`;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.width = width * sharp;
    this.canvas.height = height * sharp;
    this.pen = this.canvas.getContext("2d");
    this.pen.scale(sharp, sharp);
    const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
    this.look = { ink: colour("--ink"), soft: colour("--soft"), line: colour("--line"), axis: colour("--axis"),
      back: colour("--back") };
    const strip = 62, left = narrow || !this.loops.length ? width : 0.4 * width;
    this.areas = narrow
      ? { building: [0, 0, width, 260], ground: [0, 262, width, strip], loops: [0, 330, width, height - 330] }
      : { building: [0, 0, left, height - strip - 6], ground: [0, height - strip, width, strip],
        loops: [left + 10, 0, width - left - 10, height - strip - 6] };
    this.still = this.axes = null;
    this.show(this.time);
  }

  layer() { // a canvas like ours, to draw on once
    const canvas = document.createElement("canvas"), sharp = devicePixelRatio || 1;
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    canvas.getContext("2d").scale(sharp, sharp);
    return canvas;
  }

  show(time) {
    if (!this.still || time < this.drawn) { // axes and whole curves faintly; then what was until now, bit by bit
      this.still = this.still || this.layer();
      this.past = this.layer();
      this.drawn = -1;
    }
    const front = this.pen;
    if (!this.axes) {
      this.pen = this.still.getContext("2d");
      this.panels(...this.areas.loops, "axes");
      this.strip(...this.areas.ground, "axes");
      this.axes = true;
    }
    this.time = time;
    this.pen = this.past.getContext("2d");
    this.panels(...this.areas.loops, "past");
    this.strip(...this.areas.ground, "past");
    this.drawn = time;
    this.pen = front;
    this.pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.pen.save();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
    this.pen.drawImage(this.still, 0, 0);
    this.pen.drawImage(this.past, 0, 0);
    this.pen.restore();
    this.building(...this.areas.building);
    this.panels(...this.areas.loops, "now");
    this.strip(...this.areas.ground, "now");
    this.slider.value = this.duration ? 1000 * time / this.duration : 0;
    this.clock.textContent = `${time.toFixed(1)} of ${this.duration.toFixed(0)} s`;
  }

  // displacement of column j now, between two frames
  at(motions, j) {
    if (j < 0) return 0;
    const place = Math.min(this.time / this.dt, this.frames - 1), k = Math.min(Math.floor(place), this.frames - 2);
    if (this.frames < 2) return motions[j];
    const part = place - k, here = k * this.columns + j;
    return (1 - part) * motions[here] + part * motions[here + this.columns];
  }

  building(x0, y0, width, height) {
    const xs = this.nodes.map(n => n[0]), ys = this.nodes.map(n => n[1]), pen = this.pen, look = this.look;
    const [left, right] = [Math.min(...xs), Math.max(...xs)], [low, high] = [Math.min(...ys), Math.max(...ys)];
    const size = Math.max(right - left, high - low, 1e-9), room = 0.16 * size;
    const scale = Math.min(width / (right - left + 2.2 * room), (height - 46) / (high - low + 1e-9 + 0.3 * room));
    const enlarged = this.largest > 0 ? this.round(room / this.largest) : 1;
    const middle = x0 + width / 2, foot = y0 + height - 26;
    const place = (n, motions) => [
      middle + scale * (n[0] - (left + right) / 2 + enlarged * this.at(motions, n[2])),
      foot - scale * (n[1] - low + enlarged * this.at(motions, n[3]))];
    pen.lineCap = "round";
    const draw = (motions, member) => {
      const places = this.nodes.map(n => place(n, motions));
      for (const [i, j, site] of this.lines) {
        if (site !== -1 && motions !== this.motions) continue;
        pen.strokeStyle = site === -1 ? member : site < 0 ? look.soft : palette[site % palette.length];
        pen.lineWidth = site === -1 ? (this.lines.length > 150 ? 0.7 : 2) : 3;
        pen.beginPath();
        pen.moveTo(...places[i]);
        pen.lineTo(...places[j]);
        pen.stroke();
      }
    };
    pen.strokeStyle = look.axis;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x0 + 0.08 * width, foot);
    pen.lineTo(x0 + 0.92 * width, foot);
    pen.stroke();
    if (this.others) draw(this.others, look.axis);
    draw(this.motions, look.ink);
    this.text(`motion × ${enlarged}`, middle, foot + 16, "center", look.soft);
    if (this.others) {
      this.text(`grey: ${this.names[1]}`, x0 + 4, y0 + 14, "left", look.soft);
    }
  }

  round(value) { // to 1, 2 or 5 times a power of ten, downwards
    const power = 10 ** Math.floor(Math.log10(value)), part = value / power;
    return Number(((part >= 5 ? 5 : part >= 2 ? 2 : 1) * power).toPrecision(1));
  }

  panels(x0, y0, width, height, part) {
    const count = this.loops.length, columns = count > 1 ? 2 : 1, rows = Math.ceil(count / columns);
    this.loops.forEach((loop, k) => {
      const w = width / columns, h = height / rows;
      this.panel(loop, k, x0 + (k % columns) * w, y0 + Math.floor(k / columns) * h, w, h, part);
    });
  }

  panel(loop, k, x0, y0, width, height, part) {
    const [left, top, right, bottom] = [46, 22, 10, 32], w = width - left - right, h = height - top - bottom;
    loop.wide = loop.wide || Math.max(...loop.lines.map(line => extent(line[1])), 1e-12) * 1.06;
    loop.tall = loop.tall || Math.max(...loop.lines.map(line => extent(line[2])), 1e-12) * 1.06;
    const X = value => x0 + left + w * (value / loop.wide + 1) / 2;
    const Y = value => y0 + top + h * (1 - value / loop.tall) / 2;
    if (part === "axes") this.frame(loop, X, Y, x0 + left, y0 + top, w, h);
    loop.lines.slice().reverse().forEach((line, place) => {
      const own = place === loop.lines.length - 1, colour = own ? palette[k % 6] : this.look.axis;
      if (part !== "now") this.curve(line, X, Y, colour, part === "axes");
      else if (own) this.dot(line, X, Y, colour);
    });
  }

  frame(loop, X, Y, left, top, w, h) {
    const pen = this.pen, look = this.look, { wide, tall } = loop;
    pen.lineWidth = 1;
    pen.strokeStyle = look.line;
    pen.strokeRect(left, top, w, h);
    pen.beginPath();
    pen.moveTo(X(-wide), Y(0)); pen.lineTo(X(wide), Y(0));
    pen.moveTo(X(0), Y(-tall)); pen.lineTo(X(0), Y(tall));
    pen.stroke();
    for (const [tick, along] of [[this.round(wide * 0.95), true], [this.round(tall * 0.95), false]]) {
      for (const value of [-tick, tick]) {
        const label = String(Number(value.toPrecision(2))).replace("-", "−");
        if (along) this.text(label, X(value), top + h + 14, "center", look.soft);
        else this.text(label, left - 5, Y(value) + 4, "right", look.soft);
      }
    }
    this.text(loop.title, left, top - 7, "left", look.ink, "600 13px");
    this.text(`${loop.y_label} over ${loop.x_label}`, left + w, top - 7, "right", look.soft);
  }

  // the whole curve faintly, or what was added to it since the last picture
  curve([t, x, y], X, Y, colour, whole) {
    const pen = this.pen;
    let k = whole ? 0 : Math.max(this.before(t, this.drawn), 0);
    pen.globalAlpha = whole ? 0.16 : 1;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.2;
    pen.lineJoin = "round";
    pen.beginPath();
    for (let first = true; k < t.length && (whole || t[k] <= this.time); k += 1, first = false) {
      if (first) pen.moveTo(X(x[k]), Y(y[k])); else pen.lineTo(X(x[k]), Y(y[k]));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  dot([t, x, y], X, Y, colour) {
    const k = Math.max(this.before(t, this.time), 0);
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.arc(X(x[k]), Y(y[k]), 4, 0, 7);
    this.pen.fill();
  }

  before(t, time) { // the last place in t that is not after the time
    let [low, high] = [-1, t.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (t[middle] <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  strip(x0, y0, width, height, part) {
    const pen = this.pen, look = this.look, [t, a] = this.ground;
    this.most = this.most || extent(a) || 1;
    const left = 46, w = width - left - 10, X = time => x0 + left + w * time / (this.duration || 1);
    const Y = value => y0 + 12 + (height - 26) * (1 - value / this.most) / 2;
    if (part !== "now") this.curve([t, t, a], X, Y, look.ink, part === "axes");
    if (part === "axes") this.text(`ground, ${this.most.toPrecision(2)} m/s²`, x0 + left, y0 + 8, "left", look.soft);
    if (part !== "now") return;
    pen.strokeStyle = palette[1];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(X(this.time), y0 + 8); pen.lineTo(X(this.time), y0 + height - 12);
    pen.stroke();
  }

  text(words, x, y, align, colour, font = "12px") {
    this.pen.font = `${font} system-ui, sans-serif`;
    this.pen.textAlign = align;
    this.pen.fillStyle = colour;
    this.pen.fillText(words, x, y);
  }
}

for (const box of document.querySelectorAll(".movie:not(.space)")) new Player(box);
