#!/usr/bin/env python3
"""Takes the scores of both models from a finished `buoy study studies/planted-scores.toml`: collect_scores.py STUDY MODELS

Writes MODELS/pair-KIND/buoy_scores.json; write_card.py puts it into the cards.
"""

import csv
import json
import sys
from pathlib import Path


def rows(file):
    with open(file, newline="") as stream:
        return list(csv.DictReader(stream))


def main():
    study, models = Path(sys.argv[1]), Path(sys.argv[2])
    for kind in ("diffusion", "autoregressive"):
        out = {"scores": [], "heads": []}
        for run in sorted((study / "evaluate").iterdir()):
            for row in rows(run / "summary.csv"):
                if row["model"] != kind or row["metric"] != "exact_match":
                    continue
                line = {key: row[key] for key in ("set", "condition", "value")}
                line |= {"run": run.name, "items": int(row["items"]), "failed": int(row["failed"])}
                line |= {key: float(row[key]) for key in ("mean", "lower", "upper")}
                out["heads" if row["axis"] == "heads" else "scores"].append(line)
            conditions = json.loads((run / "run.json").read_text())["conditions"]
            for line in out["heads"]:
                for condition in conditions:
                    if condition["name"] == line["condition"] and run.name == line["run"]:
                        line["off"] = condition.get("heads_off", {}).get(kind, "")
        (models / f"pair-{kind}" / "buoy_scores.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
