#!/usr/bin/env bash
# Asks some networks of the family what studies/family.toml asks, and keeps the table of their numbers, FOLDER/NAME.csv:
# a part of that study, on a machine of one's choice. training/join_tables.py makes one table of several.
#
#   study_networks.sh FOLDER/NAME NETWORK...    NETWORK: the folder of a network, named ARM-SEED
#
# BUOY: the program (build/release/bin/buoy). THREADS (all cores), DEVICE (cpu). Nothing is done if the table is there.
# KEEP=1 keeps traces and report in the folder FOLDER/NAME.
# CONTROLS=N: N untrained networks of every config beside them (join_tables.py --untrained), and no evaluations, which controls have not.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 2 ] || { sed -n '5p' "$0"; exit 2; }
BUOY=${BUOY:-$root/build/release/bin/buoy} KEEP=${KEEP:-0} DEVICE=${DEVICE:-cpu} THREADS=${THREADS:-0} CONTROLS=${CONTROLS:-0}
mkdir -p "$(dirname "$1")"
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
shift
[ ! -e "$out.csv" ] || exit 0
models=
for network in "$@"; do
  folder=$(cd "$network" && pwd)
  models="$models$(basename "$folder") = \"$folder\"\\n"
done
# The study of the family with these networks. No controls unless told: they hold back verdicts, and verdicts are given elsewhere.
awk -v root="$root" -v models="$models" -v controls="$CONTROLS" '
  /^\[/ { skipped = controls > 0 && /^\[\[evaluate\]\]/ }
  skipped { next }
  /^\[/ { among = 0 }
  /^\[models\]/ { print; print models; among = 1; next }
  among && NF { next }
  { gsub(/"\.\.\//, "\"" root "/"); print }
  END { print "\n[controls]\nuntrained = " controls }' "$root/studies/family.toml" > "$out.toml"
begun=$SECONDS
if ! "$BUOY" study "$out.toml" --out "$out" --threads "$THREADS" --device "$DEVICE" > "$out.log" 2>&1; then
  echo "$out: failed" && tail -n 5 "$out.log"
  exit 1
fi
cp "$out/report/tables/claim_quantities.csv" "$out.part" && mv "$out.part" "$out.csv"
[ "$KEEP" = 1 ] || rm -rf "$out"
echo "$(basename "$out"): $((SECONDS - begun)) s"
