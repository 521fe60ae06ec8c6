"use strict";
{ // Draws a building in space under its record: see hyloop.report.space_movie for what the data are.
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const singles = text => new Float32Array(bytes(text).buffer);
  const shorts = text => new Int16Array(bytes(text).buffer);
  const numbers = text => new Uint32Array(bytes(text).buffer);
  const OWN = "#2f7cc1", OTHER = "#84868c", DEVICE = "#2a9d78";
  const RAMP = [[222, 165, 0], [231, 92, 36], [200, 30, 120]]; // of ductility, seen on white and on dark grey
  const VIEWS = { oblique: [0.62, 0.3], x: [Math.PI / 2, 0.05], z: [0, 0.05], above: [-Math.PI / 2, Math.PI / 2] };

  class Space {
    constructor(box) {
      this.box = box;
      this.canvas = box.querySelector("canvas");
      this.slider = box.querySelector("input");
      this.clock = box.querySelector("output");
      const data = JSON.parse(document.querySelector(`script[data-for="${box.id}"]`).textContent);
      this.data = data;
      this.places = singles(data.places);
      this.lines = Object.fromEntries(Object.entries(data.lines).map(([kind, text]) => [kind, numbers(text)]));
      this.shapes = this.unpack(data.motion);
      this.histories = data.motion.histories.map(shorts);
      this.moved = data.names.map(() => new Float32Array(this.places.length));
      this.screen = data.names.map(() => new Float32Array(2 * this.places.length / 3));
      this.events = data.ductility.events.map(([f, b, l]) => [numbers(f), numbers(b), bytes(l)]);
      this.levels = data.names.map(() => new Uint8Array(this.lines.brace.length / 2));
      this.largest = data.ductility.largest.map(singles);
      this.yielded = data.ductility.yielded.map(numbers);
      this.energy = data.energy.map(singles);
      this.traces = data.traces.map(([label, t, values]) => [label, singles(t), singles(values)]);
      this.duration = (data.frames - 1) * data.dt;
      this.measure();
      this.roofs();
      [this.yaw, this.pitch] = VIEWS.oblique;
      this.enlarged = data.motion.largest > 0 ? this.round(0.11 * this.height / data.motion.largest) : 1;
      this.controls();
      new ResizeObserver(() => this.resize()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resize());
      addEventListener("beforeprint", () => { this.play(false); this.show(this.telling); });
      this.time = this.telling; // without motion: the largest sway
      this.resize();
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (!still) this.time = 0;
      this.play(!still);
    }

    unpack(motion) { // shapes in m for a history of one
      const whole = shorts(motion.shapes), size = this.data.moves.length, shapes = new Float32Array(whole.length);
      for (let k = 0; k < whole.length; k += 1) shapes[k] = whole[k] * motion.units[Math.floor(k / size)];
      return shapes;
    }

    measure() { // centre, radius and height
      const p = this.places, low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      for (let k = 0; k < p.length; k += 1) {
        low[k % 3] = Math.min(low[k % 3], p[k]);
        high[k % 3] = Math.max(high[k % 3], p[k]);
      }
      this.centre = low.map((value, k) => (value + high[k]) / 2);
      this.radius = Math.hypot(high[0] - low[0], high[2] - low[2]) / 2;
      this.height = Math.max(high[1] - low[1], this.radius);
      this.distance = 3.2 * Math.hypot(this.height, 2 * this.radius);
    }

    roofs() { // how the roof goes in every frame, and when it goes furthest
      const [master] = this.data.roof, size = this.data.moves.length, count = this.data.motion.count;
      this.sway = this.histories.map(history => [0, 2].map(axis => {
        const path = new Float32Array(this.data.frames), column = this.data.moves.indexOf(3 * master + axis);
        for (let f = 0; f < path.length && column >= 0; f += 1) {
          for (let k = 0; k < count; k += 1) path[f] += history[f * count + k] * this.shapes[k * size + column];
        }
        return path;
      }));
      const most = path => path.reduce((sum, value) => Math.max(sum, Math.abs(value)), 0);
      this.axis = most(this.sway[0][0]) >= most(this.sway[0][1]) ? 0 : 1;
      this.furthest = Math.max(...this.sway.flat().map(most), 1e-12);
      const path = this.sway[0][this.axis];
      let at = 0;
      for (let f = 0; f < path.length; f += 1) if (Math.abs(path[f]) > Math.abs(path[at])) at = f;
      this.telling = at * this.data.dt;
    }

    controls() {
      const act = {
        play: () => this.play(!this.playing),
        more: () => this.enlarge(1), less: () => this.enlarge(-1),
      };
      for (const button of this.box.querySelectorAll("[data-do]")) {
        const what = button.dataset.do;
        button.addEventListener("click", () => { if (act[what]) act[what](); else this.turn(...VIEWS[what]); });
      }
      this.button = this.box.querySelector('[data-do="play"]');
      this.slider.addEventListener("input", () => { this.play(false); this.show(this.slider.value / 1000 * this.duration); });
      const canvas = this.canvas;
      canvas.style.touchAction = "pan-y"; // a finger turns it sideways and scrolls the page up and down
      canvas.addEventListener("pointerdown", event => { this.held = event; canvas.setPointerCapture(event.pointerId); });
      canvas.addEventListener("pointermove", event => {
        if (!this.held) return;
        const [right, down] = [event.clientX - this.held.clientX, event.clientY - this.held.clientY];
        this.held = event;
        this.turn(this.yaw + 0.01 * right, this.pitch + (event.pointerType === "touch" ? 0 : 0.006 * down));
      });
      for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { this.held = null; });
      canvas.addEventListener("keydown", event => {
        const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.08], ArrowDown: [0, 0.08] };
        const step = steps[event.key];
        if (step) this.turn(this.yaw + step[0], this.pitch + step[1]);
        else if (event.key === "+" || event.key === "=") this.enlarge(1);
        else if (event.key === "-") this.enlarge(-1);
        else if (event.key === " ") this.play(!this.playing);
        else return;
        event.preventDefault();
      });
    }

    turn(yaw, pitch) {
      this.yaw = yaw;
      this.pitch = Math.min(Math.max(pitch, 0), Math.PI / 2);
      this.show(this.time);
    }

    enlarge(way) { // 1, 2, 5, 10, ...
      const power = 10 ** Math.floor(Math.log10(this.enlarged) + 1e-9), part = Math.round(this.enlarged / power);
      const next = way > 0 ? { 1: 2, 2: 5, 5: 10 }[part] : { 1: 0.5, 2: 1, 5: 2 }[part];
      this.enlarged = Number((power * next).toPrecision(1));
      this.show(this.time);
    }

    round(value) { // to 1, 2 or 5 times a power of ten, downwards
      const power = 10 ** Math.floor(Math.log10(value)), part = value / power;
      return Number(((part >= 5 ? 5 : part >= 2 ? 2 : 1) * power).toPrecision(1));
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
      const sharp = devicePixelRatio || 1;
      this.narrow = this.canvas.clientWidth < 620;
      this.canvas.style.height = this.narrow ? "600px" : `${this.box.dataset.height || 470}px`;
      const width = this.canvas.clientWidth, height = this.canvas.clientHeight, strips = 40 * this.traces.length + 62;
      this.canvas.width = width * sharp;
      this.canvas.height = height * sharp;
      this.pen = this.canvas.getContext("2d");
      this.pen.scale(sharp, sharp);
      const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
      this.look = { ink: colour("--ink"), soft: colour("--soft"), line: colour("--line"), axis: colour("--axis") };
      const below = height - strips, side = this.narrow ? width : Math.min(0.34 * width, 330), low = 170;
      this.areas = this.narrow
        ? { towers: [0, 0, width, below - low], plan: [0, below - low, 0.45 * width, low],
          legend: [0.47 * width, below - low, 0.53 * width, low], strips: [0, below, width, strips] }
        : { towers: [0, 0, width - side - 16, below], plan: [width - side, 0, side, 0.52 * below],
          legend: [width - side, 0.52 * below, side, 0.48 * below], strips: [0, below, width, strips] };
      this.show(this.time);
    }

    show(time) {
      if (!this.pen) return;
      this.time = time;
      const place = Math.min(time / this.data.dt, this.data.frames - 1);
      this.frame = Math.min(Math.floor(place + 1e-6), this.data.frames - 1);
      this.pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.pen.lineCap = this.pen.lineJoin = "round";
      this.data.names.forEach((_, run) => { this.move(run, place); this.reach(run); });
      this.towers(...this.areas.towers);
      this.plan(...this.areas.plan);
      this.legend(...this.areas.legend);
      this.strips(...this.areas.strips);
      this.slider.value = this.duration ? 1000 * time / this.duration : 0;
      this.clock.textContent = `${time.toFixed(1)} of ${this.duration.toFixed(0)} s`;
    }

    move(run, place) { // displacements now, between two frames
      const { count } = this.data.motion, { moves, floors } = this.data, size = moves.length, moved = this.moved[run];
      const columns = this.columns = this.columns || new Float32Array(size), p = this.places;
      const k = Math.max(Math.min(Math.floor(place), this.data.frames - 2), 0), part = place - k;
      const history = this.histories[run];
      columns.fill(0);
      for (let s = 0; s < count; s += 1) {
        const here = history[k * count + s], next = history[(k + 1) * count + s], now = here + part * (next - here);
        if (now === 0) continue;
        for (let j = 0, at = s * size; j < size; j += 1, at += 1) columns[j] += now * this.shapes[at];
      }
      for (let j = 0; j < size; j += 1) if (moves[j] >= 0) moved[moves[j]] = columns[j];
      for (const [master, column, rim, nodes] of floors) { // rigid: they shift and turn as one
        const turn = column < 0 ? 0 : columns[column] / rim, at = 3 * master;
        for (const node of nodes) {
          moved[3 * node] = moved[at] + turn * (p[3 * node + 2] - p[at + 2]);
          moved[3 * node + 2] = moved[at + 2] - turn * (p[3 * node] - p[at]);
        }
      }
    }

    reach(run) { // levels of ductility until now
      const [frames, braces, values] = this.events[run], levels = this.levels[run];
      levels.fill(0);
      for (let k = 0; k < frames.length && frames[k] <= this.frame; k += 1) levels[braces[k]] = values[k];
    }

    towers(x0, y0, width, height) {
      const count = this.data.names.length, w = width / count;
      const seen = this.height * Math.cos(this.pitch) + 2 * this.radius * Math.sin(this.pitch);
      const room = 0.13 * this.height; // on either side, to sway
      const scale = Math.min(w / (2 * (this.radius + room)), (height - 62) / (1.04 * seen));
      for (let run = 0; run < count; run += 1) {
        const middle = x0 + w * (run + 0.5);
        this.project(run, scale, middle, y0 + 40 + (height - 62) / 2);
        this.pen.save(); // however much the motion is enlarged, one building does not cover the other
        this.pen.beginPath();
        this.pen.rect(x0 + w * run, y0, w, height);
        this.pen.clip();
        this.building(run);
        this.pen.restore();
        const name = this.short(this.data.names[run], w - 44, "600 13px"), half = this.pen.measureText(name).width / 2;
        this.pen.fillStyle = run ? OTHER : OWN; // as in the curves below
        this.pen.fillRect(middle - half - 20, y0 + 7, 14, 3);
        this.text(name, middle, y0 + 13, "center", run ? this.look.soft : this.look.ink, "600 13px");
        this.text(this.state(run), middle, y0 + 29, "center", this.look.soft);
        this.text(`motion × ${this.enlarged}`, middle, y0 + height - 4, "center", this.look.soft);
      }
    }

    state(run) {
      const count = this.levels[run].length;
      if (!count) return "";
      const yielded = this.yielded[run][this.frame], most = this.largest[run][this.frame].toFixed(1);
      if (!yielded) return this.narrow ? "no brace yields" : `none of ${count} braces yields yet`;
      return this.narrow ? `${yielded} yield, μ ${most}` : `${yielded} of ${count} braces yield, ductility up to ${most}`;
    }

    project(run, scale, middle, half) {
      const p = this.places, moved = this.moved[run], out = this.screen[run], [cx, cy, cz] = this.centre;
      const [cos, sin, c, s] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
      for (let n = 0, k = 0; k < p.length; n += 2, k += 3) {
        const x = p[k] + this.enlarged * moved[k] - cx, y = p[k + 1] + this.enlarged * moved[k + 1] - cy;
        const z = p[k + 2] + this.enlarged * moved[k + 2] - cz;
        const right = cos * x - sin * z, deep = sin * x + cos * z; // towards the one who looks
        const near = this.distance / (this.distance - (c * deep + s * y));
        out[n] = middle + scale * near * right;
        out[n + 1] = half - scale * near * (c * y - s * deep);
      }
    }

    building(run) {
      const { look, lines } = this, fine = lines.column.length > 400 ? 0.6 : 1;
      this.paths(run, lines.floor, look.axis, 0.7 * fine, 0.9);
      this.paths(run, lines.beam, look.soft, 0.7 * fine, 0.35);
      this.paths(run, lines.column, look.ink, 1.5 * fine, 0.75);
      const { levels: most } = this.data.ductility, wide = Math.max(fine, 0.8);
      const buckets = Array.from({ length: most + 1 }, () => []); // a colour each, and one path
      this.levels[run].forEach((level, b) => buckets[level].push(b));
      buckets.forEach((members, k) => {
        if (!members.length) return;
        if (!k) this.paths(run, lines.brace, look.soft, 0.8 * fine, 0.3, members);
        else this.paths(run, lines.brace, this.hue((k - 0.5) / most), (1.4 + 1.6 * k / most) * wide, 1, members);
      });
      if (this.energy[run].length) this.devices(run);
    }

    paths(run, pairs, colour, width, alpha, members) {
      const pen = this.pen, at = this.screen[run], count = members ? members.length : pairs.length / 2;
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.globalAlpha = alpha;
      pen.beginPath();
      for (let k = 0; k < count; k += 1) {
        const m = members ? members[k] : k, i = 2 * pairs[2 * m], j = 2 * pairs[2 * m + 1];
        pen.moveTo(at[i], at[i + 1]);
        pen.lineTo(at[j], at[j + 1]);
      }
      pen.stroke();
      pen.globalAlpha = 1;
    }

    devices(run) { // a disc, its area the energy
      const pen = this.pen, at = this.screen[run], { devices } = this.data, count = devices.length;
      const most = this.most(run);
      devices.forEach(([, i, j], k) => {
        const x = (at[2 * i] + at[2 * j]) / 2, y = (at[2 * i + 1] + at[2 * j + 1]) / 2;
        const taken = Math.max(this.energy[run][this.frame * count + k], 0);
        pen.strokeStyle = DEVICE;
        pen.lineWidth = 2;
        pen.beginPath();
        pen.moveTo(at[2 * i], at[2 * i + 1]);
        pen.lineTo(at[2 * j], at[2 * j + 1]);
        pen.stroke();
        pen.beginPath();
        pen.arc(x, y, 2 + 6 * Math.sqrt(taken / most), 0, 7);
        pen.globalAlpha = 0.75;
        pen.fillStyle = DEVICE;
        pen.fill();
        pen.globalAlpha = 1;
      });
    }

    most(run) { // energy of the device that has taken most in the end
      const count = this.data.devices.length, last = this.energy[run].subarray((this.data.frames - 1) * count);
      return last.reduce((sum, value) => Math.max(sum, value), 0) || 1;
    }

    plan(x0, y0, width, height) { // the roof from above: where it was, where it is, its way
      const [master, corners] = this.data.roof, pen = this.pen, p = this.places, { look } = this;
      if (!corners.length) return;
      const xs = corners.map(k => p[3 * k]), zs = corners.map(k => p[3 * k + 2]);
      const [cx, cz] = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...zs) + Math.max(...zs)) / 2];
      const reach = 1.15 * this.enlarged * this.furthest;
      const [high, wide] = [Math.max(...xs) - cx + reach, Math.max(...zs) - cz + reach];
      const scale = Math.min((width - 24) / (2 * wide), (height - 40) / (2 * high));
      const [mx, my] = [x0 + width / 2, y0 + 20 + (height - 24) / 2];
      const X = z => mx + scale * (z - cz), Y = x => my - scale * (x - cx); // x up, z to the right, as seen from above
      const outline = (moved, colour, thick) => {
        pen.strokeStyle = colour;
        pen.lineWidth = thick;
        pen.beginPath();
        corners.forEach((k, n) => {
          const at = [X(p[3 * k + 2] + this.enlarged * moved[3 * k + 2]), Y(p[3 * k] + this.enlarged * moved[3 * k])];
          if (n) pen.lineTo(...at); else pen.moveTo(...at);
        });
        pen.closePath();
        pen.stroke();
      };
      pen.setLineDash([3, 3]);
      outline(new Float32Array(p.length), look.axis, 1);
      pen.setLineDash([]);
      for (let run = this.data.names.length - 1; run >= 0; run -= 1) {
        const colour = run ? OTHER : OWN, [along, across] = this.sway[run];
        pen.strokeStyle = colour;
        pen.lineWidth = 0.8;
        pen.globalAlpha = 0.6;
        pen.beginPath();
        for (let f = 0; f <= this.frame; f += 1) {
          pen.lineTo(X(p[3 * master + 2] + this.enlarged * across[f]), Y(p[3 * master] + this.enlarged * along[f]));
        }
        pen.stroke();
        pen.globalAlpha = 1;
        outline(this.moved[run], colour, run ? 1.2 : 2);
      }
      this.text("roof from above", x0 + width / 2, y0 + 12, "center", look.soft);
      this.text("x ↑  z →", x0 + width - 4, y0 + height - 4, "right", look.soft);
    }

    legend(x0, y0, width, height) {
      const pen = this.pen, { look } = this, { top, levels } = this.data.ductility, left = x0 + 8, w = width - 16;
      let y = y0 + 14;
      if (this.lines.brace.length) {
        this.text("ductility of braces", left, y, "left", look.soft);
        y += 7;
        for (let k = 0; k < levels; k += 1) {
          pen.fillStyle = this.hue((k + 0.5) / levels);
          pen.fillRect(left + w * k / levels, y, w / levels + 0.5, 9);
        }
        y += 22;
        this.text("1", left, y, "left", look.soft);
        this.text(String(Number(((1 + top) / 2).toPrecision(2))), left + w / 2, y, "center", look.soft);
        this.text(String(top), left + w, y, "right", look.soft);
        y += 20;
      }
      const { devices } = this.data, count = devices.length;
      if (!count || y > y0 + height) return;
      const now = this.energy[0].subarray(this.frame * count, (this.frame + 1) * count), most = this.most(0);
      const total = now.reduce((sum, value) => sum + value, 0);
      this.text(`${this.narrow ? "" : "energy "}taken by devices: ${this.joules(total)}`, left, y, "left", look.soft);
      y += 8;
      const row = Math.min((y0 + height - y) / count, 17), named = row >= 7, font = `${Math.min(row - 0.5, 11)}px`;
      const labels = named ? Math.min(0.3 * w, 70) : 0;
      for (let k = 0; k < count; k += 1) {
        pen.fillStyle = DEVICE;
        pen.fillRect(left + labels, y + k * row + 1, Math.max((w - labels) * Math.max(now[k], 0) / most, 1), Math.max(row - 3, 1.5));
        if (named) this.text(this.short(devices[k][0], labels - 6, font), left, y + (k + 0.8) * row, "left", look.soft, font);
      }
    }

    strips(x0, y0, width, height) {
      const sway = this.sway.map(of => of[this.axis]), dt = this.data.dt, rows = this.traces.length;
      const times = this.times = this.times || Float32Array.from({ length: this.data.frames }, (_, f) => f * dt);
      const way = this.axis ? "z" : "x", far = 1e3 * Math.max(...sway.map(path => path.reduce((m, v) => Math.max(m, Math.abs(v)), 0)));
      this.traces.forEach(([label, t, values], k) => {
        this.strip(label, [[t, values, this.look.soft]], x0, y0 + 40 * k, width, 40);
      });
      const lines = sway.map((path, run) => [times, path, run ? OTHER : OWN]).reverse();
      this.strip(`roof along ${way}, up to ${far < 1000 ? `${far.toPrecision(3)} mm` : `${(far / 1e3).toPrecision(3)} m`}`, lines, x0, y0 + 40 * rows, width, height - 40 * rows);
      const X = x0 + 8 + (width - 16) * this.time / (this.duration || 1);
      this.pen.strokeStyle = this.hue(0.5);
      this.pen.lineWidth = 1;
      this.pen.beginPath();
      this.pen.moveTo(X, y0 + 4);
      this.pen.lineTo(X, y0 + height - 4);
      this.pen.stroke();
    }

    strip(label, lines, x0, y0, width, height) {
      const pen = this.pen, left = x0 + 8, w = width - 16, middle = y0 + 14 + (height - 18) / 2;
      const most = Math.max(...lines.map(([, v]) => v.reduce((m, value) => Math.max(m, Math.abs(value)), 0)), 1e-12);
      for (const [t, values, colour] of lines) {
        for (const past of [false, true]) { // all of it faintly, then what was
          pen.globalAlpha = past ? 1 : 0.25;
          pen.strokeStyle = colour;
          pen.lineWidth = 1;
          pen.beginPath();
          for (let k = 0; k < t.length && (!past || t[k] <= this.time); k += 1) {
            pen.lineTo(left + w * t[k] / (this.duration || 1), middle - (height - 18) / 2 * values[k] / most);
          }
          pen.stroke();
        }
      }
      pen.globalAlpha = 1;
      this.text(label, left, y0 + 11, "left", this.look.soft, "11px");
    }

    hue(part) {
      const at = Math.min(Math.max(part, 0), 1) * (RAMP.length - 1), k = Math.min(Math.floor(at), RAMP.length - 2);
      const mix = RAMP[k].map((value, n) => Math.round(value + (at - k) * (RAMP[k + 1][n] - value)));
      return `rgb(${mix.join(",")})`;
    }

    joules(value) {
      const [size, unit] = Math.abs(value) >= 1e6 ? [1e6, "MJ"] : [1e3, "kJ"];
      return `${(value / size).toPrecision(3)} ${unit}`;
    }

    short(words, width, font) {
      this.pen.font = `${font} system-ui, sans-serif`;
      let text = words;
      while (text.length > 3 && this.pen.measureText(text).width > width) text = `${text.slice(0, -2)}…`;
      return text;
    }

    text(words, x, y, align, colour, font = "12px") {
      this.pen.font = `${font} system-ui, sans-serif`;
      this.pen.textAlign = align;
      this.pen.fillStyle = colour;
      this.pen.fillText(words, x, y);
    }
  }

  for (const box of document.querySelectorAll(".movie.space")) box.player = new Space(box);
}
