#!/usr/bin/env python3
"""One table of the family's numbers from the tables of its parts: join_tables.py OUT.csv PART.csv...

Parts are written by study_networks.sh, where every network is an arm of its own, called ARM-SEED. Here it becomes ARM.SEED of
the arm ARM. A network that several parts have (one that accompanied others) must have the same numbers in all; it is kept once."""

import csv
import sys
from pathlib import Path

ORDER = ["causal-next", "prefix-next", "causal-masked", "full-masked"]


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    header, networks = None, {}
    for path in map(Path, sys.argv[2:]):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows:
            raise SystemExit(f"{path}: expected a table with rows, found none")
        if header is None:
            header = list(rows[0])
        if list(rows[0]) != header:
            raise SystemExit(f"{path}: expected the columns {header}, found {list(rows[0])}")
        found = {}
        for row in rows:
            if row["control"]:
                continue
            arm, seed = row["network"].rsplit("-", 1)
            if arm not in ORDER or not seed.isdigit():
                raise SystemExit(f"{path}: network: expected ARM-SEED with an arm of {ORDER}, found {row['network']}")
            row.update(network=f"{arm}.{seed}", arm=arm)
            found.setdefault((ORDER.index(arm), int(seed)), []).append(row)
        for key, of_network in found.items():
            kept = networks.setdefault(key, of_network)
            values = lambda rows: {(r["claim"], r["quantity"], r["data"], r["questions"]): r["value"] for r in rows}
            if values(kept) != values(of_network):
                raise SystemExit(f"{path}: {of_network[0]['network']}: other numbers than in a table before it")
    with open(sys.argv[1], "w", newline="") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        writer.writeheader()
        for key in sorted(networks):
            writer.writerows(networks[key])
    print(f"{sys.argv[1]}: {len(networks)} networks, {sum(map(len, networks.values()))} numbers, "
          f"{len({row['rules'] for rows in networks.values() for row in rows})} version(s) of the rules")


if __name__ == "__main__":
    main()
