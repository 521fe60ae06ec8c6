// The place in time: the present, a pause, or playing on from somewhere; and how much before it is drawn.
import { seconds } from "./look.js";

const byId = id => document.getElementById(id);

export class Playback {
  constructor(say, changed) {
    Object.assign(this, { say, changed, now: 0, at: 0, begin: 0, live: true, playing: false, going: true });
    [this.button, this.present, this.slider, this.clock, this.choice] = ["play", "live", "place", "clock", "span"].map(byId);
    this.button.addEventListener("click", () => this.toggle());
    this.present.addEventListener("click", () => this.say({ at: null }));
    this.slider.addEventListener("input", () => this.move());
    this.choice.addEventListener("change", () => this.changed());
    addEventListener("keydown", event => {
      if (event.key !== " " || event.target.closest("button, input, select, summary, a")) return;
      event.preventDefault();
      this.toggle();
    });
  }

  get span() { return this.choice.value ? Number(this.choice.value) : null; }

  set span(value) { this.choice.value = value === null ? "" : String(value); }

  get moving() { return this.playing || (this.live && this.going); }

  toggle() {
    if (this.moving) this.say({ at: this.at });
    else this.say({ at: this.at >= this.now - 1e-9 ? this.begin : this.at, playing: true });
  }

  move() { // the last place counts, however fast the slider moves
    this.wanted = this.begin + this.slider.value / 1000 * (this.now - this.begin);
    this.pending ??= requestAnimationFrame(() => { this.pending = null; this.say({ at: this.wanted }); });
  }

  take(header, going) {
    Object.assign(this, { now: header.now, at: header.at, live: header.live, playing: header.playing, going });
  }

  draw() {
    const words = this.moving ? "pause" : "play", length = this.now - this.begin;
    if (this.button.textContent !== words) this.button.textContent = words;
    this.present.textContent = this.going ? "live" : "end";
    this.present.setAttribute("aria-pressed", String(this.live));
    if (!this.slider.matches(":active")) this.slider.value = length > 0 ? 1000 * (this.at - this.begin) / length : 0;
    const told = `${seconds(this.at)} of ${seconds(this.now)} s`;
    if (this.clock.textContent !== told) this.clock.textContent = told;
    this.slider.setAttribute("aria-valuetext", `${seconds(this.at)} s`);
  }
}
