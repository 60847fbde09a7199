// What is looked at, the same for all panels; the address keeps it
const usual = {sample: 0, view: 'layers', step: 0.5, layer: 0.5, head: -1, from: -1, token: -1, minus: -1,
  log: false, first: false, even: false};
const state = {...usual};
const views = {layers: 'layers \u00d7 positions', steps: 'steps \u00d7 positions', heads: 'heads \u00d7 positions',
  grid: 'grid of heads', rows: 'answer tokens \u00d7 positions'};
const mentioned = ['sample', 'from', 'token', 'minus'];  // numbers that an address has only when they are not the usual ones

function readAddress() {
  const [name, ...parts] = location.hash.slice(1).split('&');
  if (name !== 'explore' || parts.length === 0) return false;
  const given = new URLSearchParams(parts.join('&'));
  const share = (key, otherwise) => {
    const value = parseFloat(given.get(key));
    return Number.isFinite(value) ? clamp(value, 0, 1) : otherwise;
  };
  const flag = (key, otherwise) => given.has(key) ? given.get(key) === '1' : otherwise;
  const count = (key, otherwise) => {
    const value = parseInt(given.get(key), 10);
    return Number.isFinite(value) && value >= 0 ? value : otherwise;
  };
  for (const key of mentioned) state[key] = count(key, usual[key]);
  Object.assign(state, {
    view: Object.hasOwn(views, given.get('view')) ? given.get('view') : usual.view,
    step: share('step', usual.step), layer: share('layer', usual.layer), head: count('head', -1),
    log: flag('log', usual.log), first: flag('nofirst', usual.first), even: flag('even', usual.even)});
  return true;
}

function writeAddress() {
  const round = value => String(Math.round(value * 1e4) / 1e4);
  const flag = value => value ? '1' : '0';
  const hash = '#explore&view=' + state.view + '&step=' + round(state.step) + '&layer=' + round(state.layer) +
    '&head=' + (state.head < 0 ? 'mean' : state.head) + '&log=' + flag(state.log) +
    '&nofirst=' + flag(state.first) + '&even=' + flag(state.even) +
    mentioned.filter(key => state[key] !== usual[key]).map(key => '&' + key + '=' + state[key]).join('');
  try { history.replaceState(null, '', hash); } catch { /* some viewers of files forbid it */ }
}
