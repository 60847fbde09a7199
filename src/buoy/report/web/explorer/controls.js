// The controls above the panels, and the beginning of everything.
const section = document.getElementById('explorer');
if (!section) return;

const tip = make('div', {className: 'explorer-tip'});
tip.setAttribute('role', 'tooltip');
document.body.append(tip);
panels = [...section.querySelectorAll('.explorer-panel')].map(details => new Panel(details));
if (!panels.length) return;
// The panel with most samples, steps, layers sets what can be chosen; of steps and layers that depends on the sample.
const richest = count => panels.reduce((best, panel) => count(panel) > count(best) ? panel : best);
const bySamples = richest(panel => panel.samples.length);
let bySteps, byLayers, heads;
const option = (value, text) => make('option', {value, textContent: text});
const controls = {
  sample: make('select', {}, ...bySamples.samples.map((data, number) => option(number, data.sample))),
  view: make('select', {}, ...Object.entries(views).map(([value, text]) => option(value, text))),
  play: make('button', {type: 'button', textContent: 'Play'}),
  step: make('input', {type: 'range', min: 0, step: 1}),
  layer: make('select'), head: make('select'), from: make('select'),
  minus: make('select', {}, option(-1, 'nothing'), ...panels.map((panel, number) => option(number, panel.data.trace))),
  log: make('input', {type: 'checkbox'}), first: make('input', {type: 'checkbox'}), even: make('input', {type: 'checkbox'})};
const shownStep = make('output');
section.querySelector('.explorer-controls').append(
  ...bySamples.samples.length > 1 ? [make('label', {}, 'Sample', controls.sample)] : [],
  make('label', {}, 'View', controls.view), make('label', {}, 'Step', controls.step, shownStep), controls.play,
  make('label', {}, 'Layer', controls.layer), make('label', {}, 'Head', controls.head),
  make('label', {title: 'attention of one query that writes a token of the answer, mean over heads'}, 'From', controls.from),
  ...panels.length > 1 ? [make('label', {title: 'the difference of two traces on the same sample'}, 'Minus', controls.minus)] : [],
  make('label', {}, controls.log, 'log scale'), make('label', {}, controls.first, 'without the first token'),
  make('label', {title: 'even attention: every query spreads evenly over the keys it sees'}, controls.even, 'multiples of even attention'));

// The panels show the sample of the state, and the controls offer what these have.
let shownSample = -1;
function takeSample() {
  if (shownSample === state.sample) return;
  shownSample = state.sample;
  for (const panel of panels) panel.take(state.sample);
  bySteps = richest(panel => panel.data.steps.length);
  byLayers = richest(panel => panel.data.layers.length);
  heads = Math.max(...panels.map(panel => panel.data.headSteps.length ? panel.data.heads : 0));
  const last = bySteps.data.steps.length - 1;
  controls.step.max = last;
  controls.step.disabled = controls.play.disabled = last < 1;
  controls.layer.replaceChildren(...byLayers.data.layers.map((number, l) => option(l, number)));
  controls.head.replaceChildren(option(-1, 'mean'), ...Array.from({length: heads}, (_, h) => option(h, h)));
  const byRows = richest(panel => panel.data.rowPositions.length);
  controls.from.replaceChildren(option(-1, 'all queries'), ...byRows.data.rowPositions.map((_, q) =>
    option(byRows.writtenBy(q), 'the one that writes ' + byRows.quoted(byRows.writtenBy(q)) + ' at ' + byRows.writtenBy(q))));
  controls.from.disabled = controls.from.options.length < 2;
}
const orNone = (select, value) => { select.value = value; if (select.selectedIndex < 0) select.value = -1; };
function show() {
  takeSample();
  controls.sample.value = Math.min(state.sample, bySamples.samples.length - 1);
  controls.view.value = state.view;
  controls.step.value = bySteps.step();
  shownStep.textContent = bySteps.stepName(bySteps.step());
  controls.step.setAttribute('aria-valuetext', shownStep.textContent);
  controls.layer.value = byLayers.layer();
  orNone(controls.head, state.head);
  orNone(controls.from, state.from);
  orNone(controls.minus, state.minus);
  for (const name of ['log', 'first', 'even']) controls[name].checked = state[name];
  for (const panel of panels) panel.draw();
}
function change(changes) {
  Object.assign(state, changes);
  writeAddress();
  show();
}
let playing = 0;
function play(on) {
  clearInterval(playing);
  playing = 0;
  controls.play.textContent = on ? 'Pause' : 'Play';
  for (const panel of panels) panel.top.setAttribute('aria-live', on ? 'off' : 'polite');
  if (!on) return;
  const last = bySteps.data.steps.length - 1;
  if (bySteps.step() === last) change({step: 0});
  playing = setInterval(() => {
    if (bySteps.step() === last) return play(false);
    change({step: bySteps.stepShare(bySteps.step() + 1)});
  }, 350);
}
controls.sample.addEventListener('change', () => { play(false); change({sample: Number(controls.sample.value), from: -1, token: -1}); });
controls.view.addEventListener('change', () => change({view: controls.view.value}));
controls.step.addEventListener('input', () => { play(false); change({step: bySteps.stepShare(Number(controls.step.value))}); });
controls.layer.addEventListener('change', () => change({layer: byLayers.depths[Number(controls.layer.value)]}));
for (const name of ['head', 'from', 'minus'])
  controls[name].addEventListener('change', () => change({[name]: Number(controls[name].value)}));
controls.play.addEventListener('click', () => play(!playing));
for (const name of ['log', 'first', 'even']) controls[name].addEventListener('change', () => change({[name]: controls[name].checked}));

const bar = section.querySelector('.explorer-controls'), navigation = document.querySelector('nav');
function fit() {
  bar.style.top = (navigation ? navigation.offsetHeight : 0) + 'px';
  show();
}
let width = window.innerWidth;
window.addEventListener('resize', () => { if (width !== window.innerWidth) { width = window.innerWidth; fit(); } });
window.addEventListener('hashchange', () => { if (readAddress()) show(); });
const dark = window.matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', () => { takeColors(); show(); });
takeColors();
state.minus = Number(document.body.dataset.minus ?? usual.minus); // of a page that is a comparison
const linked = readAddress();
fit();
if (linked) section.scrollIntoView();
