// Colours: towards the page's background for little, away from it for much
const ramps = {
  light: [[255, 255, 255], [222, 235, 247], [158, 202, 225], [66, 146, 198], [8, 81, 156], [8, 29, 88]],
  dark: [[20, 23, 28], [28, 52, 92], [30, 96, 145], [49, 152, 167], [143, 211, 158], [253, 245, 180]]};
// Of differences: blue for less, the page's background for the same, orange for more
const differenceRamps = {
  light: [[5, 74, 145], [88, 152, 208], [255, 255, 255], [240, 140, 80], [150, 54, 0]],
  dark: [[140, 200, 255], [50, 110, 170], [20, 23, 28], [180, 84, 30], [255, 190, 130]]};
let isDark = false, colors = [], differenceColors = [];
let ink = '', soft = '', line = '', paper = '';  // of the page's style

function takeColors() {
  const style = getComputedStyle(document.documentElement);
  const named = name => style.getPropertyValue(name).trim();
  [ink, soft, line, paper] = ['--ink', '--soft', '--line', '--page'].map(named);
  const probe = make('canvas', {width: 1, height: 1}).getContext('2d');
  probe.fillStyle = paper;
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  isDark = red + green + blue < 384;
  colors = blend(rampOf(false));
  differenceColors = blend(rampOf(true));
}
const rampOf = difference => (difference ? differenceRamps : ramps)[isDark ? 'dark' : 'light'];
const blend = ramp => Array.from({length: 256}, (_, i) => {
  const place = i / 255 * (ramp.length - 1), at = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[at].map((part, c) => Math.round(part + (ramp[at + 1][c] - part) * (place - at)));
});
const pixel = color => new Uint32Array(Uint8Array.of(...color, 255).buffer)[0];
const css = color => 'rgb(' + color.join(',') + ')';
const inkOn = color => 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] > 140 ? '#111' : '#fff';
