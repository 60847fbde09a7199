#!/usr/bin/env bash
# Trains the four arms of one seed at once on a machine with an NVIDIA GPU and PyTorch 2.11.
#
#   run_pilot.sh start      smoke test of all arms (stops loudly), then the trainings in the background
#   run_pilot.sh collect    waits for them, prints tables, puts logs and weights into $OUT
#   run_pilot.sh all        both
#
# Settings (environment): WORLD, folder or .tar.gz of world version 2 (.carry/world2/world2.tar.gz); WORK, scratch
# (/tmp/family); SEED (1); STEPS ("auto": as many as LIMIT allows, the same for all arms); LIMIT, seconds after which
# steps end, counted from the start of a training (480); FINAL, questions of each set scored at the end (200); WAIT,
# the longest that collect waits (570 s); ARMS; MPS=1 starts NVIDIA's multi-process service (untested).
set -u
here=$(cd "$(dirname "$0")" && pwd)
WORLD=${WORLD:-.carry/world2/world2.tar.gz} WORK=${WORK:-/tmp/family} SEED=${SEED:-1} STEPS=${STEPS:-auto}
LIMIT=${LIMIT:-480} FINAL=${FINAL:-200} WAIT=${WAIT:-570} OUT=${OUT:-$WORK/out}
ARMS=${ARMS:-causal-next causal-masked full-masked prefix-next} EXTRA=${EXTRA:-}
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=2 TORCHINDUCTOR_CACHE_DIR=$WORK/inductor TORCHINDUCTOR_COMPILE_THREADS=4

fail() {
  echo "PILOT FAILED: $*" >&2
  for arm in $ARMS; do
    echo "--- $arm" >&2
    tail -n 25 "$WORK/smoke/$arm.txt" >&2 2>/dev/null
  done
  exit 1
}

unpack() {
  mkdir -p "$WORK" || exit 1
  if [ -d "$WORLD" ]; then
    world=$(cd "$WORLD" && pwd)
  else
    world=$WORK/world2
    [ -d "$world" ] || tar -xzf "$WORLD" -C "$WORK" || fail "no world in $WORLD"
  fi
  [ -f "$world/tokenizer/tokenizer.json" ] || fail "no tokenizer in $world"
}

smoke() {
  rm -rf "$WORK/smoke" && mkdir -p "$WORK/smoke"
  local begun=$SECONDS pids=() arm count
  count=$(wc -w <<< "$ARMS")
  for arm in $ARMS; do  # with the very shapes of the training, which then finds the compiled code
    timeout 240 python3 "$here/train_family.py" "$arm" --world "$world" --out "$WORK/smoke/$arm" --seed "$SEED" \
      --steps 60 --log 20 --measure 3 --quick 16 --final 2 --together "$count" $EXTRA > "$WORK/smoke/$arm.txt" 2>&1 &
    pids+=($!)
  done
  for _ in "${pids[@]}"; do
    wait -n || { kill "${pids[@]}" 2>/dev/null; fail "an arm did not pass the smoke test"; }
  done
  for arm in $ARMS; do
    grep -q '"done": true' "$WORK/smoke/$arm/log.jsonl" || fail "$arm did not end"
  done
  echo "smoke test passed after $((SECONDS - begun)) s; attention against the plain mask, then the last steps:"
  grep -h '"attention"' "$WORK"/smoke/*/log.jsonl
  grep -h '"step": 60' "$WORK"/smoke/*/log.jsonl
}

steps_for_limit() {  # by the slowest arm; the first 40 s go into the start, a twentieth into measuring
  python3 - "$LIMIT" "$WORK"/smoke/*/log.jsonl <<'PY'
import json, sys
limit, slowest = float(sys.argv[1]), 0.0
for path in sys.argv[2:]:
    lines = [json.loads(line) for line in open(path)]
    slowest = max(slowest, max(line["ms_per_step"] for line in lines if line.get("step") in (40, 60)))
print(max(500, min(12000, int((limit - 40) * 0.95 / slowest * 1e3) // 100 * 100)))
PY
}

start() {
  nvidia-smi --query-gpu=name,memory.used --format=csv,noheader
  python3 -c 'import torch; print("torch", torch.__version__, torch.cuda.is_available())' || fail "no torch"
  if [ "${MPS:-0}" = 1 ]; then nvidia-cuda-mps-control -d; fi
  unpack
  smoke
  [ "$STEPS" = auto ] && STEPS=$(steps_for_limit)
  echo "seed $SEED: $STEPS steps, at most $LIMIT s"
  rm -rf "$WORK/runs" && mkdir -p "$WORK/runs"
  for arm in $ARMS; do
    setsid nohup python3 "$here/train_family.py" "$arm" --world "$world" --out "$WORK/runs/$arm" --seed "$SEED" \
      --steps "$STEPS" --limit "$LIMIT" --final "$FINAL" $EXTRA > "$WORK/runs/$arm.txt" 2>&1 < /dev/null &
    echo $! > "$WORK/runs/$arm.pid"
  done
  date +%s > "$WORK/runs/started"
}

running() {
  for arm in $ARMS; do
    kill -0 "$(cat "$WORK/runs/$arm.pid")" 2>/dev/null && ! grep -q '"done": true' "$WORK/runs/$arm/log.jsonl" \
      2>/dev/null && return 0
  done
  return 1
}

collect() {
  local until=$((SECONDS + WAIT)) folders=() arm
  while running && [ $SECONDS -lt $until ]; do sleep 2; done
  running && echo "not all arms have ended; this is what there is"
  for arm in $ARMS; do
    folders+=("$WORK/runs/$arm")
    grep -q '"done": true' "$WORK/runs/$arm/log.jsonl" 2>/dev/null || { echo "--- $arm"; tail -n 8 "$WORK/runs/$arm.txt"; }
  done
  mkdir -p "$OUT"
  python3 "$here/summarise_family.py" "${folders[@]}" | tee "$OUT/summary.txt"
  (cd "$WORK" && tar -czf "$OUT/logs.tar.gz" runs/*.txt runs/*/log.jsonl runs/*/config.json smoke/*.txt)
  for arm in $ARMS; do  # bfloat16, 14 MB each
    [ -f "$WORK/runs/$arm/model.safetensors" ] && cp "$WORK/runs/$arm/model.safetensors" "$OUT/$arm-$SEED.safetensors"
  done
  ls -l "$OUT"
}

case "${1:-}" in
  start) start ;;
  collect) collect ;;
  all) start && collect ;;
  *) sed -n '2,14p' "$0" && exit 2 ;;
esac
