"use strict";
// Plays a building under its record: see hyloop.report.movie for what the data are.
const palette = ["#2f7cc1", "#d5652a", "#2a9d78", "#a06cc4", "#b8942a", "#d1567f"];
const floats = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const extent = values => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

class Player {
  constructor(box) {
    this.box = box;
    this.canvas = box.querySelector("canvas");
    [this.button, this.slider, this.clock] = box.querySelectorAll("button, input, output");
    const data = JSON.parse(document.querySelector(`script[data-for="${box.id}"]`).textContent);
    Object.assign(this, data);
    this.motions = floats(data.motions);
    this.others = data.others && floats(data.others);
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
    this.still = null;
    this.show(this.time);
  }

  show(time) {
    this.time = time;
    this.pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.building(...this.areas.building);
    this.panels(...this.areas.loops);
    this.strip(...this.areas.ground);
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
        if (site >= 0 && motions !== this.motions) continue;
        pen.strokeStyle = site < 0 ? member : palette[site % palette.length];
        pen.lineWidth = site < 0 ? (this.lines.length > 150 ? 0.7 : 2) : 3;
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

  panels(x0, y0, width, height) {
    const count = this.loops.length, columns = count > 1 ? 2 : 1, rows = Math.ceil(count / columns);
    this.loops.forEach((loop, k) => {
      const w = width / columns, h = height / rows;
      this.panel(loop, k, x0 + (k % columns) * w, y0 + Math.floor(k / columns) * h, w, h);
    });
  }

  panel(loop, k, x0, y0, width, height) {
    const pen = this.pen, look = this.look, [left, top, right, bottom] = [46, 22, 10, 32];
    const wide = Math.max(...loop.lines.map(line => extent(line[1])), 1e-12) * 1.06;
    const tall = Math.max(...loop.lines.map(line => extent(line[2])), 1e-12) * 1.06;
    const w = width - left - right, h = height - top - bottom;
    const X = value => x0 + left + w * (value / wide + 1) / 2, Y = value => y0 + top + h * (1 - value / tall) / 2;
    pen.lineWidth = 1;
    pen.strokeStyle = look.line;
    pen.strokeRect(x0 + left, y0 + top, w, h);
    pen.beginPath();
    pen.moveTo(X(-wide), Y(0)); pen.lineTo(X(wide), Y(0));
    pen.moveTo(X(0), Y(-tall)); pen.lineTo(X(0), Y(tall));
    pen.stroke();
    for (const [tick, along] of [[this.round(wide * 0.95), true], [this.round(tall * 0.95), false]]) {
      for (const value of [-tick, tick]) {
        const label = String(Number(value.toPrecision(2))).replace("-", "−");
        if (along) this.text(label, X(value), y0 + top + h + 14, "center", look.soft);
        else this.text(label, x0 + left - 5, Y(value) + 4, "right", look.soft);
      }
    }
    this.text(loop.title, x0 + left, y0 + 15, "left", look.ink, "600 13px");
    this.text(`${loop.y_label} over ${loop.x_label}`, x0 + left + w, y0 + 15, "right", look.soft);
    loop.lines.slice().reverse().forEach((line, place) => {
      const own = place === loop.lines.length - 1, last = this.curve(line, X, Y, own ? palette[k % 6] : look.axis);
      if (own && last) {
        pen.fillStyle = palette[k % 6];
        pen.beginPath();
        pen.arc(...last, 4, 0, 7);
        pen.fill();
      }
    });
  }

  curve([t, x, y], X, Y, colour) { // the whole curve faintly, and what was until now
    const pen = this.pen;
    let last = null;
    for (const whole of [true, false]) {
      pen.globalAlpha = whole ? 0.16 : 1;
      pen.strokeStyle = colour;
      pen.lineWidth = 1.2;
      pen.beginPath();
      for (let k = 0; k < t.length && (whole || t[k] <= this.time); k += 1) {
        last = [X(x[k]), Y(y[k])];
        if (k === 0) pen.moveTo(...last); else pen.lineTo(...last);
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
    return last;
  }

  strip(x0, y0, width, height) {
    const pen = this.pen, look = this.look, [t, a] = this.ground, most = extent(a) || 1;
    const left = 46, w = width - left - 10, X = time => x0 + left + w * time / (this.duration || 1);
    const Y = value => y0 + 12 + (height - 26) * (1 - value / most) / 2;
    this.curve([t, t.map(X), a.map(Y)], x => x, y => y, look.ink);
    pen.strokeStyle = palette[1];
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(X(this.time), y0 + 8); pen.lineTo(X(this.time), y0 + height - 12);
    pen.stroke();
    this.text(`ground, ${most.toPrecision(2)} m/s²`, x0 + left, y0 + 8, "left", look.soft);
  }

  text(words, x, y, align, colour, font = "12px") {
    this.pen.font = `${font} system-ui, sans-serif`;
    this.pen.textAlign = align;
    this.pen.fillStyle = colour;
    this.pen.fillText(words, x, y);
  }
}

for (const box of document.querySelectorAll(".movie")) new Player(box);
