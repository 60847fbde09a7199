#!/usr/bin/env python3
"""Tables of trainings of the family: summarise_family.py FOLDER... (each holds log.jsonl). Plain text, for reading."""

import json
import sys
from pathlib import Path


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()


def shown(value):
    return "-" if value is None else f"{value:.2f}"


def main():
    runs = {}
    for folder in map(Path, sys.argv[1:]):
        if (folder / "log.jsonl").exists():
            runs[folder.name] = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    if not runs:
        raise SystemExit("no log.jsonl in any folder")
    names = list(runs)
    one = lambda lines, key: next((line[key] for line in reversed(lines) if key in line), None)
    last = lambda lines, key: (one(lines, key) or {}) if key in ("tokens_to_skill", "losses") else one(lines, key)

    steps = {name: [line for line in lines if "step" in line] for name, lines in runs.items()}
    rows = [["", *names]]
    for title, key in (("steps", "step"), ("tokens", "tokens"), ("seconds", "seconds")):
        rows.append([title, *(str(last(steps[name], key)) for name in names)])
    for title, key in (("ms a step, median", "ms_per_step"), ("tokens/s, median", "tokens_per_second"),
                       ("waited for data, s", "waited")):
        values = {name: sorted(line[key] for line in steps[name]) for name in names}
        rows.append([title, *(f"{sum(v) if key == 'waited' else v[len(v) // 2]:.1f}" if v else "-"
                              for v in values.values())])
    rows.append(["attention differs by", *(str(max(one(lines, "attention").values())) for lines in runs.values())])
    rows.append(["finished", *(str(bool(one(lines, "done"))) for lines in runs.values())])
    table(rows)

    print("million tokens until 0.9 of the questions are right, by passages; losses at the end")
    rows = [["", *names]]
    for key in next((last(lines, "tokens_to_skill") for lines in runs.values() if last(lines, "tokens_to_skill")), {}):
        found = [last(lines, "tokens_to_skill").get(key) for lines in runs.values()]
        rows.append([key, *("never" if tokens is None else f"{tokens / 1e6:.0f}" for tokens in found)])
    for key in last(steps[names[0]], "losses"):
        rows.append(["loss " + key, *(str(last(steps[name], "losses").get(key)) for name in names)])
    table(rows)

    print("right answers with 1 / 2 / 5 / 10 passages as training goes on")
    rows = [["step", *names]]
    curves = {name: {line["step"]: line["scores"] for line in steps[name] if "scores" in line} for name in names}
    every = sorted({step for curve in curves.values() for step in curve})
    for step in sorted({*every[::max(1, len(every) // 20)], *every[-1:]}):
        rows.append([str(step), *(" / ".join(shown(score) for score in curves[name].get(step, {}).values())
                                  for name in names)])
    table(rows)

    print("final scores: right answers; (right tokens) of long ones; [other value] of contradictions")
    sets = sorted({line["set"] for lines in runs.values() for line in lines if "set" in line})
    rows = [["set", *names]]
    for name in sets:
        row = [name]
        for lines in runs.values():
            line = next((line for line in lines if line.get("set") == name), {})
            cell = shown(line.get("exact"))
            if name.startswith(("list", "life")) and line:
                cell += f" ({line['tokens_right']:.2f})"
            for label in ("rival", "first"):
                if label in line:
                    cell += f" [{label} {line[label]:.2f}]"
            row.append(cell)
        rows.append(row)
    table(rows)


if __name__ == "__main__":
    main()
