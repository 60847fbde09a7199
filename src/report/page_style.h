#pragma once

namespace buoy::report {

// Inlined into every page: a report has no files it depends on.
inline constexpr char kStyle[] = R"(
:root { --ink: #1a1a1a; --soft: #5c6470; --line: #d9dde3; --page: #ffffff; --panel: #f6f7f9; --accent: #0b62a4; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--page);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 24px 96px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px; }
h2 { font-size: 22px; margin: 56px 0 4px; padding-top: 20px; border-top: 1px solid var(--line); }
p.question { color: var(--soft); margin: 0 0 12px; font-size: 17px; }
p.lead { color: var(--soft); margin: 0 0 24px; }
nav { position: sticky; top: 0; background: var(--page); border-bottom: 1px solid var(--line); z-index: 2; }
nav div { max-width: 1060px; margin: 0 auto; padding: 10px 24px; display: flex; gap: 18px; flex-wrap: wrap; font-size: 14px; }
nav a { color: var(--accent); text-decoration: none; }
nav a:hover { text-decoration: underline; }
ul.readings { padding-left: 20px; margin: 0 0 20px; }
ul.readings li { margin: 6px 0; }
figure { margin: 20px 0 28px; }
figure img { width: 100%; height: auto; display: block; background: #fff; }
figure.narrow img { max-width: 700px; }
figcaption { color: var(--soft); font-size: 14px; margin-top: 8px; }
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
.notes { background: #fdf3cf; border-radius: 6px; padding: 8px 14px; font-size: 14px; }
@media (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e8eaed; --soft: #a3abb6; --line: #3a414b; --page: #14171c; --panel: #1d2128; --accent: #7db8e8; }
  .notes { color: #1a1a1a; }
}
@media print { nav, details { display: none; } main { padding: 0; } }
)";

// A click on a column's head sorts its table.
inline constexpr char kScript[] = R"(
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
