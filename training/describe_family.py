#!/usr/bin/env python3
"""Tables in Markdown of what mask and objective do: describe_family.py QUANTITIES.csv CONTRASTS.csv

QUANTITIES is the family's table claim_quantities (join_tables.py), CONTRASTS the table claim_contrasts of a report that was given it.
A quantity is shown if at least two arms have it, each in at least two networks."""

import csv
import statistics
import sys

ARMS = {"causal-next": ("next token", "causal"), "prefix-next": ("next token", "prefix"),
        "causal-masked": ("masked tokens", "causal"), "full-masked": ("masked tokens", "full")}
EFFECTS = [("objective, under the causal mask", "causal-masked", "causal-next"),
           ("full mask, masked tokens", "full-masked", "causal-masked"),
           ("prefix mask, next token", "prefix-next", "causal-next"),
           ("both", "full-masked", "causal-next")]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def short(value):
    return f"{value:.3g}"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    numbers, names = {}, {}
    for row in rows_of(sys.argv[1]):
        if row["value"] and not row["control"]:
            key = row["claim"], row["quantity"], row["data"]
            numbers.setdefault(key, {}).setdefault(row["arm"], []).append(float(row["value"]))
            names[key] = f"{row['claim']} {row['quantity']} ({row['data']})"
    contrasts = {}
    for row in rows_of(sys.argv[2]):
        found = [arm for arm, (objective, mask) in ARMS.items() if row["arm"] == f"{objective}, {mask} mask"]
        other = [arm for arm, (objective, mask) in ARMS.items() if row["other"] == f"{objective}, {mask} mask"]
        if found and other and row["lower"]:
            key = row["claim"], row["quantity"], row["data"]
            contrasts[key, found[0], other[0]] = tuple(float(row[c]) for c in ("difference", "lower", "upper"))
    shown = [key for key in sorted(numbers, key=lambda key: int(key[0][1:]))
             if sum(len(numbers[key].get(arm, [])) >= 2 for arm in ARMS) >= 2]
    print("Mean over networks, standard deviation over networks, networks:\n")
    table(["quantity", *ARMS],
          [[names[key], *(f"{short(statistics.mean(v))} ± {short(statistics.stdev(v))}, {len(v)}" if len(v) > 1 else ""
                          for v in (numbers[key].get(arm, []) for arm in ARMS))] for key in shown])
    print("Effects: difference of the means, 95% interval over networks and questions (Welch); bold where it leaves out 0:\n")
    lines, sure, all_of_them = [], 0, 0
    for key in shown:
        cells = []
        for _, arm, other in EFFECTS:
            if (key, arm, other) not in contrasts:
                cells.append("")
                continue
            value, lower, upper = contrasts[key, arm, other]
            all_of_them += 1
            sure += lower > 0 or upper < 0
            text = f"{short(value)} [{short(lower)}, {short(upper)}]"
            cells.append(f"**{text}**" if lower > 0 or upper < 0 else text)
        lines.append([names[key], *cells])
    table(["quantity", *(name for name, _, _ in EFFECTS)], lines)
    print(f"{all_of_them} effects, {sure} of them leave out 0; by chance alone about {all_of_them * 0.05:.0f} would.")


if __name__ == "__main__":
    main()
