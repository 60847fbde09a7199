// Small functions that everything here uses.
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const bytesOf = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
const percent = value => value === 0 ? '0%' : (100 * value).toPrecision(3) + '%';
const signed = value => (value < 0 ? '\u2212' : '+') + percent(Math.abs(value));
const times = value => value === 0 ? '0' : (value >= 1000 ? Math.round(value) : value.toPrecision(3)) + ' times even';
const visible = text => text.replace(/\r/g, '\u240d').replace(/\n/g, '\u21b5').replace(/\t/g, '\u21e5');
const nearest = (values, wanted) => {
  let best = 0;
  values.forEach((value, i) => { if (Math.abs(value - wanted) < Math.abs(values[best] - wanted)) best = i; });
  return best;
};
let panels = [];  // of the page, in order
