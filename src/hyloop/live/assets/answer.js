// What the page says first: state, sentence, three numbers; a change of the state is also spoken.
import { element } from "./look.js";

const state = document.getElementById("state"), sentence = document.getElementById("answer");
const spoken = document.getElementById("spoken"), numbers = document.getElementById("numbers");

export function showTitle(title) {
  document.querySelector("h1").textContent = title;
  document.title = `${title} · hyloop`;
}

export function showAnswer(status) {
  if (document.body.dataset.state !== status.state) {
    document.body.dataset.state = status.state;
    state.textContent = status.state;
    spoken.textContent = status.sentence;
  }
  sentence.textContent = status.sentence;
  if (!status.numbers) return;
  if (numbers.children.length !== status.numbers.length) {
    numbers.replaceChildren(...status.numbers.map(() => element("div", {}, element("dt"), element("dd"))));
  }
  status.numbers.forEach(([value, what], k) => {
    const [term, number] = numbers.children[k].children;
    if (term.textContent !== what) term.textContent = what;
    if (number.textContent !== value) number.textContent = value;
  });
}

export function showNotes(notes) {
  const list = element("ul", {}, ...notes.map(note => element("li", {}, note)));
  document.getElementById("notes").replaceChildren(...(notes.length ? [element("h2", {}, "Notes"), list] : []));
}
