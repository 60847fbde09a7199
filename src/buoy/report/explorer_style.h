#pragma once

namespace buoy::report {

// Added to the page's style where there is something to explore.
inline constexpr char kExplorerStyle[] = R"css(
.explorer-controls { position: sticky; top: 0; z-index: 1; background: var(--page); padding: 8px 0; margin-bottom: 8px;
  display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; font-size: 14px; border-bottom: 1px solid var(--line); }
.explorer-controls:empty { display: none; }
.explorer-controls label { display: inline-flex; gap: 6px; align-items: center; color: var(--soft); }
.explorer-controls select, .explorer-controls button { font: inherit; color: var(--ink); background: var(--panel);
  border: 1px solid var(--line); border-radius: 4px; padding: 3px 8px; }
.explorer-controls button { cursor: pointer; min-width: 68px; }
.explorer-controls input[type=range] { width: 190px; accent-color: var(--accent); }
.explorer-controls output { color: var(--ink); min-width: 74px; font-variant-numeric: tabular-nums; }
.explorer-panel { padding: 8px 14px 12px; }
.explorer-panel summary { font-weight: 600; }
.explorer-body { border-radius: 4px; outline-offset: 4px; }
.explorer-body:focus-visible { outline: 2px solid var(--accent); }
.explorer-head { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; justify-content: space-between;
  margin: 6px 0; font-size: 14px; }
.explorer-legend { display: inline-flex; gap: 8px; align-items: center; color: var(--soft); font-size: 13px;
  font-variant-numeric: tabular-nums; }
.explorer-legend i { display: inline-block; width: 130px; height: 11px; border: 1px solid var(--line); }
.explorer-plot { position: relative; }
.explorer-plot canvas { display: block; width: 100%; cursor: crosshair; }
.explorer-cell { position: absolute; pointer-events: none; border: 1.5px solid var(--ink); display: none; }
.explorer-top { font-size: 13px; color: var(--soft); margin: 8px 0; min-height: 3.1em; }
.explorer-tokens { max-height: 175px; margin-top: 6px; overflow-y: auto; background: var(--page); border: 1px solid var(--line);
  border-radius: 4px; padding: 8px 10px; font: 13px/1.9 ui-monospace, "DejaVu Sans Mono", Menlo, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; position: relative; }
.explorer-tokens span { padding: 2px 0; border-radius: 2px; }
.explorer-tokens span.masked { border-bottom: 2px dotted var(--ink); font-style: italic; }
.explorer-tokens span.looked { box-shadow: 0 0 0 2px var(--ink); }
.explorer-tip { position: fixed; z-index: 3; pointer-events: none; display: none; max-width: 340px; padding: 6px 10px;
  background: var(--ink); color: var(--page); border-radius: 4px; font-size: 13px; line-height: 1.45; white-space: pre-line;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.explorer-top, .explorer-head { overflow-wrap: anywhere; }
@media print { #explorer { display: none; } }
@media screen and (max-width: 700px) {
  .explorer-controls { position: static; }
  .explorer-controls input[type=range] { width: 140px; }
}
)css";

}  // namespace buoy::report
