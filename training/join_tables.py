#!/usr/bin/env python3
"""One table of the family's numbers from the tables of its parts: join_tables.py [--untrained] OUT.csv PART.csv...

Parts are written by study_networks.sh, where every network is an arm of its own, called ARM-SEED. Here it becomes ARM.SEED of
the arm ARM. A network that several parts have (one that accompanied others) must have the same numbers in all; it is kept once.
With --untrained the table is one of their untrained controls instead, called untrained-ARM.1, untrained-ARM.2 and so on."""

import csv
import gzip
import io
import re
import sys
from pathlib import Path

ORDER = ["causal-next", "prefix-next", "causal-masked", "full-masked"]


def opened(path, mode):
    """A table that is compressed where its name ends so, with the same bytes for the same rows."""
    if not str(path).endswith(".gz"):
        return open(path, mode, newline="")
    packed = gzip.GzipFile(path, "wb", mtime=0) if mode == "wt" else gzip.open(path, "rb")
    return io.TextIOWrapper(packed, newline="")


def place_of(row, path, untrained):
    """Names network and arm of the row; returns where it comes in the table."""
    arms = "|".join(ORDER)
    found = re.fullmatch(rf"untrained-({arms})-\d+(?:-(\d+))?" if untrained else rf"({arms})-(\d+)", row["network"])
    if not found:
        expected = "untrained-ARM-SEED, or that with -NUMBER" if untrained else "ARM-SEED"
        raise SystemExit(f"{path}: network: expected {expected} with an arm of {ORDER}, found {row['network']}")
    name, number = ("untrained-" if untrained else "") + found[1], int(found[2] or 1)
    row.update(network=f"{name}.{number}", arm=name)
    return ORDER.index(found[1]), number


def main():
    untrained = sys.argv[1:2] == ["--untrained"]
    arguments = sys.argv[2 if untrained else 1:]
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    header, networks = None, {}
    for path in map(Path, arguments[1:]):
        with opened(path, "rt") as file:
            rows = list(csv.DictReader(file))
        if not rows:
            raise SystemExit(f"{path}: expected a table with rows, found none")
        if header is None:
            header = list(rows[0])
        if list(rows[0]) != header:
            raise SystemExit(f"{path}: expected the columns {header}, found {list(rows[0])}")
        found = {}
        for row in rows:
            if bool(row["control"]) == untrained:
                found.setdefault(place_of(row, path, untrained), []).append(row)
        for key, of_network in found.items():
            kept = networks.setdefault(key, of_network)
            values = lambda rows: {(r["claim"], r["quantity"], r["data"], r["questions"]): r["value"] for r in rows}
            if values(kept) != values(of_network):
                raise SystemExit(f"{path}: {of_network[0]['network']}: other numbers than in a table before it")
    with opened(arguments[0], "wt") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        for key in sorted(networks):
            writer.writerows(networks[key])
    print(f"{arguments[0]}: {len(networks)} networks, {sum(map(len, networks.values()))} numbers, "
          f"{len({row['rules'] for rows in networks.values() for row in rows})} version(s) of the rules")


if __name__ == "__main__":
    main()
