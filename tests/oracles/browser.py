"""Pages in a real browser: what is on the first screen, what sticks out, what can be read, what paper would cut."""

import shutil
from contextlib import contextmanager

import pytest

SCREENS = {"wide": (1400, 900), "narrow": (390, 844)}
PAPER = 718  # px: A4 less margins of 15 mm is 680 px of text, and the body has 18 px to spare on either side

# Rectangles of what a reader sees first, of the drawing without its caption.
FIRST = """() => ['.answer', '.numbers', 'header .plot, header .movie'].map(what => {
  const box = document.querySelector(what)?.getBoundingClientRect();
  return box ? { what, top: box.top, bottom: box.bottom, left: box.left, right: box.right } : { what, top: null };
})"""

# Text whose contrast with what lies behind it is below that of WCAG AA, and what it is; numbers in cells of a map lie
# on its colours, which no style tells (tests/report/test_sweep_page.py).
FAINT = """() => {
  const numbers = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const linear = c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(c => linear(c / 255))
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0.5) return color;
    }
    return [255, 255, 255];
  };
  const texts = 'h1, h2, p, dt, dd, td, th, li a, summary, figcaption, caption, pre, button, '
    + 'svg g:not(.heatmap-label) > text';
  return [...document.querySelectorAll(texts)].filter(node => node.textContent.trim() && node.getClientRects().length)
    .map(node => {
      const style = getComputedStyle(node), color = numbers(node.closest('svg') ? style.fill : style.color);
      const [a, b] = [light(color), light(behind(node))], size = parseFloat(style.fontSize);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      return { text: node.textContent.slice(0, 40), ratio, wanted: size >= 24 ? 3 : 4.5 };
    }).filter(found => !(found.ratio >= found.wanted));
}"""

WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"
DRAWN = "() => [...document.querySelectorAll('header .plot')].every(plot => plot.querySelector('svg.main-svg, canvas'))"
# Plots that paper would cut: wider than its text, or higher than a sheet of A4.
CUT = """() => [...document.querySelectorAll('.plot')].map(plot => {
  const boxes = [...plot.querySelectorAll('.main-svg')].map(svg => svg.getBoundingClientRect());
  return ['width', 'height'].map(side => Math.max(0, ...boxes.map(box => box[side])));
}).filter(([width, height]) => width > 681 || height > 1009)"""


@contextmanager
def browser():
    """A headless Chromium of this machine; the test is skipped where there is none."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (path := shutil.which(name))),
        None,
    )
    if found is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def shown(started, path, screen=(1400, 900), scheme="light"):
    """A page as it is seen, drawn; what it logs as errors is collected in `page.complaints`."""
    size = {"width": screen[0], "height": screen[1]}
    context = started.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page, page_errors = context.new_page(), []
    page.on("console", lambda said: page_errors.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(300)  # until fonts and sizes have settled
    page.complaints = page_errors
    yield page
    context.close()
