#pragma once

namespace buoy::report {

// The script of the section "Explore": kExplorerScriptBegin (what is looked at, colours), then
// kExplorerPanelScript (explorer_panel_script.h), then kExplorerScriptEnd (controls).
inline constexpr char kExplorerScriptBegin[] = R"js(
(() => {
'use strict';
const section = document.getElementById('explorer');
if (!section) return;

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const bytesOf = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
const percent = value => value === 0 ? '0%' : (100 * value).toPrecision(3) + '%';
const times = value => value === 0 ? '0' : (value >= 1000 ? Math.round(value) : value.toPrecision(3)) + ' times even';
const visible = text => text.replace(/\r/g, '\u240d').replace(/\n/g, '\u21b5').replace(/\t/g, '\u21e5');

// ---- what is looked at, the same for all panels; the address keeps it
const usual = {view: 'layers', step: 0.5, layer: 0.5, head: -1, log: false, first: false, even: false};
const state = {...usual};
const views = {layers: 'layers \u00d7 positions', steps: 'steps \u00d7 positions', heads: 'heads \u00d7 positions'};

function readAddress() {
  const [name, ...parts] = location.hash.slice(1).split('&');
  if (name !== 'explore' || parts.length === 0) return false;
  const given = new URLSearchParams(parts.join('&'));
  const share = (key, otherwise) => {
    const value = parseFloat(given.get(key));
    return Number.isFinite(value) ? clamp(value, 0, 1) : otherwise;
  };
  const flag = (key, otherwise) => given.has(key) ? given.get(key) === '1' : otherwise;
  const head = parseInt(given.get('head'), 10);
  Object.assign(state, {
    view: views[given.get('view')] ? given.get('view') : usual.view,
    step: share('step', usual.step), layer: share('layer', usual.layer),
    head: Number.isFinite(head) && head >= 0 ? head : -1,
    log: flag('log', usual.log), first: flag('nofirst', usual.first), even: flag('even', usual.even)});
  return true;
}

function writeAddress() {
  const round = value => String(Math.round(value * 1e4) / 1e4);
  const flag = value => value ? '1' : '0';
  const hash = '#explore&view=' + state.view + '&step=' + round(state.step) + '&layer=' + round(state.layer) +
    '&head=' + (state.head < 0 ? 'mean' : state.head) + '&log=' + flag(state.log) +
    '&nofirst=' + flag(state.first) + '&even=' + flag(state.even);
  try { history.replaceState(null, '', hash); } catch (error) { /* some viewers of files forbid it */ }
}

// ---- colours: towards the page's background for little, away from it for much
const ramps = {
  light: [[255, 255, 255], [222, 235, 247], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 29, 88]],
  dark: [[20, 23, 28], [28, 52, 92], [30, 96, 145], [49, 152, 167], [143, 211, 158], [253, 245, 180]]};
let ramp = ramps.light, colors = [], colorPixels = [];
let ink = '', soft = '', line = '', paper = '';  // of the page's style

function takeColors() {
  const style = getComputedStyle(document.documentElement);
  const named = name => style.getPropertyValue(name).trim();
  [ink, soft, line, paper] = ['--ink', '--soft', '--line', '--page'].map(named);
  const probe = make('canvas', {width: 1, height: 1}).getContext('2d');
  probe.fillStyle = paper;
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  ramp = red + green + blue < 384 ? ramps.dark : ramps.light;
  colors = Array.from({length: 256}, (_, i) => {
    const place = i / 255 * (ramp.length - 1), at = Math.min(ramp.length - 2, Math.floor(place));
    return ramp[at].map((part, c) => Math.round(part + (ramp[at + 1][c] - part) * (place - at)));
  });
  colorPixels = colors.map(pixel);
}
const pixel = color => new Uint32Array(Uint8Array.of(...color, 255).buffer)[0];
const css = color => 'rgb(' + color.join(',') + ')';
const inkOn = color => 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] > 140 ? '#111' : '#fff';

)js";

inline constexpr char kExplorerScriptEnd[] = R"js(
// ---- controls
const tip = make('div', {className: 'explorer-tip'});
tip.setAttribute('role', 'tooltip');
document.body.append(tip);
const panels = [...section.querySelectorAll('.explorer-panel')].map(details => new Panel(details));
if (!panels.length) return;
// The panel with most steps, layers, heads sets what can be chosen.
const richest = count => panels.reduce((best, panel) => count(panel.data) > count(best.data) ? panel : best);
const bySteps = richest(data => data.steps.length), byLayers = richest(data => data.layers.length);
const heads = Math.max(...panels.map(panel => panel.data.headSteps.length ? panel.data.heads : 0));
const option = (value, text) => make('option', {value, textContent: text});
const controls = {
  view: make('select', {}, ...Object.entries(views).map(([value, text]) => option(value, text))),
  play: make('button', {type: 'button', textContent: 'Play', disabled: bySteps.data.steps.length < 2}),
  step: make('input', {type: 'range', min: 0, max: bySteps.data.steps.length - 1, step: 1, disabled: bySteps.data.steps.length < 2}),
  layer: make('select', {}, ...byLayers.data.layers.map((number, l) => option(l, number))),
  head: make('select', {}, option(-1, 'mean'), ...Array.from({length: heads}, (_, h) => option(h, h))),
  log: make('input', {type: 'checkbox'}), first: make('input', {type: 'checkbox'}), even: make('input', {type: 'checkbox'})};
const shownStep = make('output');
section.querySelector('.explorer-controls').append(
  make('label', {}, 'View', controls.view), make('label', {}, 'Step', controls.step, shownStep), controls.play,
  make('label', {}, 'Layer', controls.layer), make('label', {}, 'Head', controls.head),
  make('label', {}, controls.log, 'log scale'), make('label', {}, controls.first, 'without the first token'),
  make('label', {title: 'even attention: every query spreads evenly over the keys it sees'}, controls.even, 'multiples of even attention'));

function show() {
  controls.view.value = state.view;
  controls.step.value = bySteps.step();
  shownStep.textContent = bySteps.stepName(bySteps.step());
  controls.step.setAttribute('aria-valuetext', shownStep.textContent);
  controls.layer.value = byLayers.layer();
  controls.head.value = state.head < heads ? state.head : -1;
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
controls.view.addEventListener('change', () => change({view: controls.view.value}));
controls.step.addEventListener('input', () => { play(false); change({step: bySteps.stepShare(Number(controls.step.value))}); });
controls.layer.addEventListener('change', () => change({layer: byLayers.depths[Number(controls.layer.value)]}));
controls.head.addEventListener('change', () => change({head: Number(controls.head.value)}));
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
const linked = readAddress();
fit();
section.style.scrollMarginTop = bar.style.top;
if (linked) section.scrollIntoView();
})();
)js";

}  // namespace buoy::report
