// Which signals are drawn as histories: chosen by groups, kept by name.
import { element } from "./look.js";

const most = 8; // lines of a chart

export class Choice {
  constructor(about, kept, changed) {
    this.about = about;
    this.chosen = new Set(kept?.length ? kept : about.shown.map(k => about.names[k]));
    this.changed = changed;
    const tool = (text, pick) => element("button", { type: "button", onclick: () => this.set(pick()) }, text);
    this.filter = element("input", { type: "search", placeholder: "part of a name", ariaLabel: "part of a name" });
    this.filter.addEventListener("input", () => this.list());
    this.groups = element("div", { className: "groups" });
    const tools = element("div", { className: "tools" }, tool("most telling", () => about.shown.map(k => about.names[k])),
      tool("all", () => [...about.names]), tool("none", () => []), this.filter);
    this.count = element("summary");
    this.box = element("details", { className: "choose" }, this.count, tools, this.groups);
    this.box.addEventListener("toggle", () => this.list());
    this.list();
  }

  set(names) {
    this.chosen = new Set(names);
    this.list();
    this.changed();
  }

  list() {
    this.count.textContent = `Choose channels (${this.chosen.size} of ${this.about.names.length})`;
    if (!this.box.open) return;
    const wanted = this.filter.value.toLowerCase();
    this.groups.replaceChildren(...this.about.groups.flatMap(group => {
      const names = group.signals.map(k => this.about.names[k]).filter(name => name.toLowerCase().includes(wanted));
      if (!names.length) return [];
      const unit = group.unit ? ` [${group.unit}]` : "";
      return [element("fieldset", {}, element("legend", {}, group.title + unit), ...names.map(name => this.tick(name)))];
    }));
  }

  tick(name) {
    const box = element("input", { type: "checkbox", checked: this.chosen.has(name) });
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(name); else this.chosen.delete(name);
      this.list();
      this.changed();
    });
    return element("label", {}, box, ` ${name}`);
  }

  charts() { // a chart for each group, or more where it has many lines
    return this.about.groups.flatMap(group => {
      const signals = group.signals.filter(k => this.chosen.has(this.about.names[k])), charts = [];
      for (let k = 0; k < signals.length; k += most) {
        const lines = signals.slice(k, k + most).map((signal, series) => ({ name: this.about.names[signal], signal, series }));
        charts.push({ kind: "history", title: group.title, unit: group.unit, factor: group.factor, lines, band: null,
          levels: [] });
      }
      return charts;
    });
  }
}
