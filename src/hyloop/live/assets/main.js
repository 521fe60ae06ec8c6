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
let charts = new Map(), seen = new Set(), dirty = false, touched = false, span = 10, asked = null;

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
    [charts, seen] = [new Map(), new Set()];
    showTitle(about.title);
    showNotes(about.notes);
    structure = about.picture && add("head", new Structure(about.picture));
    const head = about.head.map((chart, k) => add(`head${k}`, new Loop(chart, about, 318)));
    byId("head").replaceChildren(...[structure, ...head].filter(Boolean).map(chart => chart.box));
    choice = new Choice(about, choice && [...choice.chosen].filter(name => about.names.includes(name)), redoHistories);
    histories = element("div", { className: "charts" });
    pace = new Histogram();
    const sections = [section("Histories", "Over time in s, with the smallest and the largest value of every moment.", [choice.box, histories])];
    about.sections.forEach((one, n) => {
      const made = one.charts.map((chart, k) => {
        const Kind = chart.kind === "loop" ? Loop : History;
        return add(`s${n}.${k}`, new Kind(chart, about)).box;
      });
      sections.push(section(one.title, one.text, [element("div", { className: "charts" }, ...made)]));
    });
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

function add(id, chart) {
  charts.set(id, chart);
  chart.box.dataset.chart = id;
  sight.observe(chart.box);
  return chart;
}

function redoHistories() {
  for (const [id, chart] of charts) {
    if (id.startsWith("h.")) { sight.unobserve(chart.box); charts.delete(id); seen.delete(id); }
  }
  const made = choice.charts().map(chart => add(`h.${chart.lines.map(line => line.signal)}`, new History(chart, about)));
  histories.replaceChildren(...made.map(chart => chart.box));
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
