// What is looked at, the same for all panels; the address keeps it
const usual = {sample: 0, view: 'layers', step: 0.5, layer: 0.5, head: -1, log: false, first: false, even: false};
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
  const head = parseInt(given.get('head'), 10), sample = parseInt(given.get('sample'), 10);
  Object.assign(state, {
    sample: Number.isFinite(sample) && sample >= 0 ? sample : usual.sample,
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
    '&nofirst=' + flag(state.first) + '&even=' + flag(state.even) + (state.sample > 0 ? '&sample=' + state.sample : '');
  try { history.replaceState(null, '', hash); } catch { /* some viewers of files forbid it */ }
}
