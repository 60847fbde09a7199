#!/usr/bin/env python3
"""Tables in Markdown of what mask and objective do: describe_family.py QUANTITIES.csv CONTRASTS.csv

QUANTITIES is the family's table claim_quantities (join_tables.py), CONTRASTS the table claim_contrasts of a report that was given it,
or what build/dev/bin/describe_contrasts prints of it. A quantity is shown if at least two arms have it, each in at least two networks.
Bold and † follow docs/verdicts.md, contrasts of arms."""

import csv
import gzip
import statistics
import sys

ARMS = {"causal-next": ("next token", "causal"), "prefix-next": ("next token", "prefix"),
        "causal-masked": ("masked tokens", "causal"), "full-masked": ("masked tokens", "full")}
EFFECTS = [("objective, under the causal mask", "causal-masked", "causal-next"),
           ("full mask, masked tokens", "full-masked", "causal-masked"),
           ("prefix mask, next token", "prefix-next", "causal-next"),
           ("both", "full-masked", "causal-next")]


def rows_of(path):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def short(value):
    return f"{value:.3g}"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def numbers_of(path):
    """The values of each quantity by arm, and what it is called."""
    numbers, names = {}, {}
    for row in rows_of(path):
        if row["value"] and not row["control"]:
            key = row["claim"], row["quantity"], row["data"]
            numbers.setdefault(key, {}).setdefault(row["arm"], []).append(float(row["value"]))
            names[key] = f"{row['claim']} {row['quantity']} ({row['data']})"
    return numbers, names


def shown_of(numbers):
    return [key for key in sorted(numbers, key=lambda key: int(key[0][1:]))
            if sum(len(numbers[key].get(arm, [])) >= 2 for arm in ARMS) >= 2]


def means_lines(numbers, names, shown):
    return [[names[key], *(f"{short(statistics.mean(v))} ± {short(statistics.stdev(v))}, {len(v)}" if len(v) > 1 else ""
                           for v in (numbers[key].get(arm, []) for arm in ARMS))] for key in shown]


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    numbers, names = numbers_of(sys.argv[1])
    contrasts = {}
    for row in rows_of(sys.argv[2]):
        found = [arm for arm, (objective, mask) in ARMS.items() if row["arm"] == f"{objective}, {mask} mask"]
        other = [arm for arm, (objective, mask) in ARMS.items() if row["other"] == f"{objective}, {mask} mask"]
        if found and other and row["lower"]:
            key = row["claim"], row["quantity"], row["data"]
            contrasts[key, found[0], other[0]] = (*(float(row[c]) for c in ("difference", "lower", "upper")), row["finding"])
    shown = shown_of(numbers)
    print("Mean over networks, standard deviation over networks, networks:\n")
    table(["quantity", *ARMS], means_lines(numbers, names, shown))
    print("Effects: difference of the means, 95% interval over networks and questions (Welch); bold where it is beyond the margin, "
          "†: beyond it, but not beyond what untrained networks show:\n")
    lines, apart, found, untrained, all_of_them = [], 0, 0, 0, 0
    for key in shown:
        cells = []
        for _, arm, other in EFFECTS:
            if (key, arm, other) not in contrasts:
                cells.append("")
                continue
            value, lower, upper, finding = contrasts[key, arm, other]
            all_of_them += 1
            apart += lower > 0 or upper < 0
            text = f"{short(value)} [{short(lower)}, {short(upper)}]"
            if finding == "also without training":
                untrained += 1
                text += " †"
            elif finding.startswith("beyond the margin"):
                found += 1
                text = f"**{text}**"
            cells.append(text)
        lines.append([names[key], *cells])
    table(["quantity", *(name for name, _, _ in EFFECTS)], lines)
    print(f"{all_of_them} effects, {apart} of them leave out 0 (by chance alone about {all_of_them * 0.05:.0f} would); "
          f"{found} are beyond the margin, {untrained} more also without training.")


if __name__ == "__main__":
    main()
