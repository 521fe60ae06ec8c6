"use strict";
const narrow = matchMedia("(max-width: 700px)");
const config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "", scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], toImageButtonOptions: { format: "svg" } };
const plots = [...document.querySelectorAll(".plot")];
const spec = plot => JSON.parse(document.querySelector(`script[data-for="${plot.id}"]`).textContent);

function draw(plot) { // on a narrow screen panels stand below each other
  const { data, layout, narrow: below } = spec(plot), chosen = narrow.matches && below ? below : layout;
  const setting = narrow.matches ? { ...config, displayModeBar: false } : config;
  plot.style.height = `${chosen.height}px`;
  plot.dataset.drawn = "yes";
  Plotly.react(plot, data, chosen, setting);
}

// what is folded away or far below is drawn when it comes into sight
const watcher = new IntersectionObserver(seen => seen.forEach(entry => {
  if (entry.isIntersecting) { watcher.unobserve(entry.target); draw(entry.target); }
}), { rootMargin: "1000px" });
for (const plot of plots) { plot.replaceChildren(); watcher.observe(plot); }
narrow.addEventListener("change", () => plots.filter(plot => plot.dataset.drawn).forEach(draw));

for (const button of document.querySelectorAll(".code button")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}

const paper = 680, sheet = 980; // px, the text of A4 and of Letter: what is higher would be cut
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach(part => { part.open = true; });
  plots.forEach(plot => {
    if (!plot.dataset.drawn) draw(plot);
    const height = Math.min(plot.layout.height, sheet);
    plot.style.height = `${height}px`;
    Plotly.relayout(plot, { width: paper, height });
  });
});
addEventListener("afterprint", () => {
  opened.forEach(part => { part.open = false; });
  plots.forEach(draw); // with the width and height of the screen
});
