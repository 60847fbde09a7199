#pragma once

namespace buoy::report {

// Inlined into every page: a report has no files it depends on.
inline constexpr char kStyle[] = R"(
:root { --ink: #1a1a1a; --soft: #5c6470; --line: #d9dde3; --page: #ffffff; --panel: #f6f7f9; --accent: #0b62a4; }
* { box-sizing: border-box; }
/* --bar is the height of the bar at the top, kept by the script; a jump to a heading ends below it. */
html { scroll-padding-top: calc(var(--bar, 68px) + 4px); }
body { margin: 0; color: var(--ink); background: var(--page);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 24px 96px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 22px; margin: 56px 0 4px; padding-top: 20px; border-top: 1px solid var(--line); }
p.question { color: var(--soft); margin: 0 0 12px; font-size: 17px; overflow-wrap: anywhere; }
p.lead { color: var(--soft); margin: 0 0 24px; }
nav { position: sticky; top: 0; background: var(--page); border-bottom: 1px solid var(--line); z-index: 2; }
nav div { max-width: 1060px; margin: 0 auto; padding: 10px 24px; display: flex; gap: 2px 18px; flex-wrap: wrap; font-size: 14px; }
nav a { color: var(--accent); text-decoration: none; }
nav a:hover { text-decoration: underline; }
ul.readings { padding-left: 20px; margin: 0 0 20px; }
ul.readings li { margin: 6px 0; overflow-wrap: anywhere; }
figure { margin: 20px 0 28px; }
figure .drawing { overflow-x: auto; }
figure img { width: 100%; height: auto; display: block; }
figure.narrow img { max-width: 700px; }
figcaption { color: var(--soft); font-size: 14px; margin-top: 8px; overflow-wrap: anywhere; }
figcaption a { color: var(--accent); }
details { margin: 8px 0; background: var(--panel); border-radius: 6px; padding: 8px 14px; }
summary { cursor: pointer; font-size: 15px; }
.count { color: var(--soft); font-size: 13px; margin-left: 6px; }
.files { font-size: 13px; color: var(--soft); margin: 8px 0; }
.files a { color: var(--accent); }
.scroll { overflow-x: auto; max-height: 420px; overflow-y: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { position: sticky; top: 0; background: var(--panel); cursor: pointer; font-weight: 600; }
td.w { text-align: left; }
table.facts th { position: static; cursor: default; text-align: left; background: none; color: var(--soft); font-weight: 500; }
table.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.claims { width: 100%; font-size: 14px; }
table.claims td, table.claims th { text-align: left; white-space: normal; vertical-align: top; padding: 8px 10px; position: static; cursor: default; }
table.claims th { background: none; color: var(--soft); }
.verdict { display: inline-block; border-radius: 4px; padding: 1px 8px; font-weight: 600; font-size: 13px; white-space: nowrap; }
.supported { background: #d9ecf8; color: #0b4a7a; }
.contradicted { background: #fbe0cf; color: #8a3b00; }
.mixed { background: #fdf3cf; color: #6b5200; }
.undecided { background: #e9e4f4; color: #4c3b78; }
.untestable { background: #eceef1; color: #4a5260; }
.notes { background: #fdf3cf; color: #1a1a1a; border-radius: 6px; padding: 8px 14px; font-size: 14px; overflow-wrap: anywhere; }
.notes p { margin: 6px 0; }
.left-out { border-left: 3px solid #d9a400; padding: 2px 12px; color: var(--soft); font-size: 14px; overflow-wrap: anywhere; }
/* Of figures there is a dark drawing of its own (Palette in src/buoy/figure/chart/color.cc has these colours). */
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e8eaed; --soft: #a3abb6; --line: #3a414b; --page: #14171c; --panel: #1d2128; --accent: #7db8e8; }
  .notes { background: #38311c; color: #f3e6ba; }
  .supported { background: #123a58; color: #bfe0f7; }
  .contradicted { background: #55280c; color: #ffd5bb; }
  .mixed { background: #463a10; color: #f6e5a8; }
  .undecided { background: #352b52; color: #ded3f7; }
  .untestable { background: #2c323b; color: #c9d0da; }
}
@media screen and (max-width: 700px) {
  main { padding: 20px 16px 64px; }
  nav div { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; padding: 10px 16px; }
  figure.wide img { min-width: 620px; }
  table.claims, table.claims tbody, table.claims tr, table.claims td { display: block; }
  table.claims thead { display: none; }
  table.claims tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  table.claims td { border: 0; padding: 2px 0; overflow-wrap: anywhere; }
  table.facts td { min-width: 150px; }
}
@media print {
  nav, details { display: none; }
  main { padding: 0; max-width: none; }
  h2 { break-after: avoid; }
  figure, table.claims tr { break-inside: avoid; }
  .scroll { max-height: none; overflow: visible; }
}
)";

// The height of the bar for jumps to headings; a click on a column's head sorts its table.
inline constexpr char kScript[] = R"(
{
  const bar = document.querySelector('nav');
  const measure = () => document.documentElement.style.setProperty('--bar', bar.offsetHeight + 'px');
  measure();
  window.addEventListener('resize', measure);
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
for (const head of document.querySelectorAll('details th')) {
  head.addEventListener('click', () => {
    const body = head.closest('table').tBodies[0], at = head.cellIndex, up = head.dataset.up !== '1';
    head.dataset.up = up ? '1' : '0';
    const key = row => { const t = row.cells[at].textContent, n = parseFloat(t); return isNaN(n) ? t : n; };
    [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b), less = typeof x === typeof y ? x < y : typeof x === 'number';
      return (x === y ? 0 : less ? -1 : 1) * (up ? 1 : -1);
    }).forEach(row => body.appendChild(row));
  });
}
)";

}  // namespace buoy::report
