// The page: makes charts of what the server says there is, asks for what is in sight, and draws what comes.
import { Choice } from "./choose.js";
import { Connection } from "./connection.js";
import { Histogram } from "./histogram.js";
import { History } from "./history.js";
import { Loop } from "./loop.js";
import { Playback } from "./playback.js";
import { Structure } from "./structure.js";
import { element, refreshLook, seconds, watchLook } from "./look.js";
import { parts } from "./frames.js";
import { showAnswer, showNotes, showTitle } from "./answer.js";

const going = new Set(["running", "late", "interlock"]);
const byId = id => document.getElementById(id);
const stats = { frames: 0, draws: 0, since: performance.now() };
window.hyloop = { stats }; // how often something new was drawn

let about = null, known = "", status = null, choice = null, pace = null, structure = null, histories = null;
let charts = new Map(), chosen = [], made = 0, seen = new Set(), dirty = false, touched = false, span = 10, asked = null;

refreshLook();
const stop = byId("stop");
const connection = new Connection({ about: build, frame: take, lost });
const playback = new Playback(message => connection.say(message), () => ask());
stop.addEventListener("click", () => connection.say({ stop: true }));
watchLook(() => { for (const chart of [...charts.values(), pace]) chart?.repaint(); });

const sight = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) seen.add(target.dataset.chart); else seen.delete(target.dataset.chart);
  }
  ask();
}, { rootMargin: "120px" });
const sizes = new ResizeObserver(() => { for (const chart of [...charts.values(), pace]) chart?.resize(); ask(); });
sizes.observe(byId("main"));

function build(said) { // anew, unless it is the run that is shown already
  const text = JSON.stringify(said);
  if (text !== known) {
    if (!about && !said.going) playback.span = null; // all of what has ended
    [about, known] = [said, text];
    playback.begin = about.t0;
    for (const chart of charts.values()) sight.unobserve(chart.box);
    [charts, seen, chosen] = [new Map(), new Set(), []];
    showTitle(about.title);
    showNotes(about.notes);
    structure = about.picture && add(new Structure(about.picture));
    const head = about.head.map(chart => add(new Loop(chart, about, 318)));
    byId("head").replaceChildren(...[structure, ...head].filter(Boolean).map(chart => chart.box));
    choice = new Choice(about, choice && [...choice.chosen].filter(name => about.names.includes(name)), redoHistories);
    histories = element("div", { className: "charts" });
    pace = new Histogram();
    const sections = [section("Histories", "Over time in s, with the smallest and the largest value of every moment.", [choice.box, histories])];
    for (const one of about.sections) {
      const boxes = one.charts.map(chart => add(new (chart.kind === "loop" ? Loop : History)(chart, about)).box);
      sections.push(section(one.title, one.text, [element("div", { className: "charts" }, ...boxes)]));
    }
    sections.push(section("On the clock", "", [pace.box]));
    byId("main").replaceChildren(...sections);
    byId("contents").replaceChildren(...sections.map(one => element("li", {},
      element("a", { href: `#${one.id}` }, one.firstChild.textContent))));
    byId("contents").lastChild.hidden = sections.at(-1).hidden = true; // until something is known
    redoHistories();
  }
  asked = null;
  ask();
}

function section(title, text, children) {
  const heading = element("h2", {}, title), id = title.toLowerCase().replaceAll(" ", "-");
  return element("section", { id, ariaLabel: title }, heading, ...(text ? [element("p", {}, text)] : []), ...children);
}

function add(chart) { // by a name that no other chart has had: what is under way for that one is not for this
  chart.box.dataset.chart = `c${made += 1}`;
  charts.set(chart.box.dataset.chart, chart);
  sight.observe(chart.box);
  return chart;
}

function redoHistories() { // charts that stay keep what they have
  const name = chart => String(chart.lines.map(line => line.signal));
  const before = new Map(chosen.map(one => [name(one.chart), one])), wanted = choice.charts();
  chosen = wanted.map(chart => before.get(name(chart)) || add(new History(chart, about)));
  for (const one of before.values()) {
    if (chosen.includes(one)) continue;
    const id = one.box.dataset.chart;
    sight.unobserve(one.box);
    charts.delete(id);
    seen.delete(id);
  }
  histories.replaceChildren(...chosen.map(one => one.box));
}

function ask() { // for what is in sight, once for all changes of a moment
  if (!about) return;
  ask.pending ??= setTimeout(() => {
    ask.pending = null;
    const views = [...seen].filter(id => charts.has(id)).map(id => ({ id, ...charts.get(id).view() }));
    const wanted = JSON.stringify({ views, span: playback.span });
    if (wanted !== asked) connection.say(JSON.parse(asked = wanted));
  }, 30);
}

function take(header, numbers) {
  for (const [part, own] of parts(header, numbers)) charts.get(part[0])?.take(part, own);
  stats.frames += 1;
  if (header.status) tell(header.status);
  span = header.span;
  playback.take(header, going.has(status?.state));
  touched ||= header.parts.length > 0;
  if (!dirty) requestAnimationFrame(draw);
  dirty = true;
}

function tell(said) {
  status = said;
  showAnswer(said);
  stop.hidden = !(about.control && going.has(said.state));
  if (structure) structure.largest = said.largest;
  if (said.pace) {
    byId("contents").lastChild.hidden = byId("main").lastChild.hidden = false;
    pace.show(said.pace);
  }
}

function draw() {
  dirty = false;
  playback.draw();
  if (!touched) return;
  touched = false;
  stats.draws += 1;
  for (const id of seen) charts.get(id)?.draw(playback.at, span);
}

function lost() {
  asked = null;
  stop.hidden = true;
  const until = about ? `; what is drawn is what was known at ${seconds(playback.now)} s` : "";
  showAnswer({ state: "disconnected", sentence: `No connection to the server${until}. Trying again.` });
}
