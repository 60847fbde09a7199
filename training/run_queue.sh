#!/usr/bin/env bash
# Trains many networks on one GPU, several at a time, across calls to a machine that may go away at a known time.
#
#   run_queue.sh start            smoke test of the four arms, then the queue in the background
#   run_queue.sh collect SECONDS  waits at most SECONDS; puts what has ended since the last call into $OUT
#
# JOBS: a word per network, in the order of importance: ARM-SEED of the family, or pair-KIND (the planted control at
# 1 million parameters). SLOTS: how many train at once (5). END: seconds after `start` at which the machine goes away
# (1700): a job that would not end before is not begun. MS: milliseconds of the GPU for a step, for that estimate (13).
# WORLD, WORK, FINAL as in run_pilot.sh; STEPS: of the arms with next token (8000), MASKED_STEPS: of those with masked
# tokens (12000); PAIR_WORLD: folder or .tar.gz of world version 1 with its tokenizer.
# MPS=1 uses NVIDIA's multi-process service where it starts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
WORLD=${WORLD:-.carry/world2/world2.tar.gz} PAIR_WORLD=${PAIR_WORLD:-.carry/world2/world1.tar.gz}
WORK=${WORK:-/tmp/family} STEPS=${STEPS:-8000} MASKED_STEPS=${MASKED_STEPS:-12000} FINAL=${FINAL:-100} SLOTS=${SLOTS:-5} END=${END:-1700} MS=${MS:-13}
OUT=${OUT:-$WORK/out} PAIR_STEPS=${PAIR_STEPS:-9000} PAIR_MORE=${PAIR_MORE:-2500}
PAIR_SHAPE=${PAIR_SHAPE:---width 128 --layers 6 --heads 4 --mlp 96}
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=2 TORCHINDUCTOR_CACHE_DIR=$WORK/inductor TORCHINDUCTOR_COMPILE_THREADS=4

unpack() {  # ARCHIVE-OR-FOLDER NAME
  if [ -d "$1" ]; then ln -sfn "$(cd "$1" && pwd)" "$WORK/$2"; else tar -xzf "$1" -C "$WORK" || exit 1; fi
}

start_mps() {
  [ "${MPS:-0}" = 1 ] || return 0
  nvidia-cuda-mps-control -d && timeout 60 python3 -c 'import torch; torch.ones(9, device="cuda").sum().item()' &&
    echo "MPS works" && return 0
  echo "MPS does not work here"
  echo quit | nvidia-cuda-mps-control
}

smoke() {
  local begun=$SECONDS pids=() arm
  mkdir -p "$WORK/smoke"
  for arm in causal-next causal-masked full-masked prefix-next; do  # the shapes of the training: it finds the compiled code
    timeout 240 python3 "$here/train_family.py" "$arm" --world "$WORK/world2" --out "$WORK/smoke/$arm" --seed 1 \
      --steps 60 --log 20 --measure 3 --quick 16 --final 2 --together 4 > "$WORK/smoke/$arm.txt" 2>&1 &
    pids+=($!)
  done
  for _ in "${pids[@]}"; do
    wait -n || { kill "${pids[@]}" 2>/dev/null; tail -n 25 "$WORK"/smoke/*.txt; echo "SMOKE TEST FAILED"; exit 1; }
  done
  echo "smoke test passed after $((SECONDS - begun)) s; the last steps:"
  grep -h '"step": 60' "$WORK"/smoke/*/log.jsonl | cut -c1-400
}

steps_of() {  # JOB
  case $1 in *masked*) echo "$MASKED_STEPS" ;; *) echo "$STEPS" ;; esac
}

train() {  # JOB
  local job=$1 out=$WORK/runs/$1
  case $job in
    pair-*)
      local kind=${job#pair-} common="--world $WORK/world1 --tokenizer $WORK/world1/tokenizer/tokenizer.json $PAIR_SHAPE"
      python3 "$here/train_pair.py" "$kind" $common --steps "$PAIR_STEPS" --out "$out/base" &&
        python3 "$here/train_pair.py" "$kind" $common --init "$out/base" --first "$PAIR_STEPS" \
          --steps $((PAIR_STEPS + PAIR_MORE)) --readers 2 --measure 2 --out "$out" --final ;;
    *)
      python3 "$here/train_family.py" "${job%-*}" --world "$WORK/world2" --out "$out" --seed "${job##*-}" \
        --steps "$(steps_of "$job")" --final "$FINAL" ;;
  esac > "$WORK/runs/$job.txt" 2>&1
  echo $? > "$WORK/runs/$job.ended"
}

fits() {  # JOB, with one more than now running; a network alone is bound by the processor at 20 ms a step
  local running=$(($(jobs -rp | wc -l) + 1)) ms
  ms=$((MS * running)) && [ $ms -lt 20 ] && ms=20
  [ $((SECONDS + 30 + $(steps_of "$1") * ms / 1000)) -le "$END" ]
}

queue() {
  SECONDS=$1
  for job in $JOBS; do
    while [ "$(jobs -rp | wc -l)" -ge "$SLOTS" ]; do sleep 1; done
    if fits "$job"; then
      echo "$SECONDS s: $job begins"
      train "$job" &
    else
      echo "$SECONDS s: $job would not end in time"
    fi
    sleep 1
  done
  wait
  echo "$SECONDS s: all have ended"
  touch "$WORK/runs/all_ended"
}

start() {
  local begun=$SECONDS
  nvidia-smi --query-gpu=name,memory.used --format=csv,noheader
  mkdir -p "$WORK/runs"
  unpack "$WORLD" world2
  unpack "$PAIR_WORLD" world1
  start_mps
  smoke
  export WORLD PAIR_WORLD WORK STEPS MASKED_STEPS FINAL SLOTS END MS PAIR_STEPS PAIR_MORE PAIR_SHAPE JOBS
  setsid nohup "$0" queue $((SECONDS - begun)) > "$WORK/queue.txt" 2>&1 < /dev/null &
}

collect() {
  local until=$((SECONDS + $1)) job
  mkdir -p "$OUT"
  while [ $SECONDS -lt $until ] && [ ! -e "$WORK/runs/all_ended" ]; do sleep 1; done
  cat "$WORK/queue.txt"
  nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader
  for job in $(cd "$WORK/runs" && ls); do
    [ -d "$WORK/runs/$job" ] && echo "$job: $(tail -n 1 "$WORK/runs/$job.txt" | cut -c1-230)"
  done
  for job in $(cd "$WORK/runs" && ls -- *.ended 2>/dev/null); do
    job=${job%.ended}
    [ -e "$WORK/runs/$job.delivered" ] && continue
    [ "$(find "$OUT" -name '*.safetensors' | wc -l)" -ge 4 ] && { echo "more has ended: collect again"; break; }
    cp "$WORK/runs/$job/model.safetensors" "$OUT/$job.safetensors" && touch "$WORK/runs/$job.delivered"
  done
  (cd "$WORK" && tar -czf "$OUT/logs.tar.gz" queue.txt smoke/*.txt $(find runs -name '*.txt' -o -name '*.json' -o -name '*.jsonl'))
  ls -l "$OUT"
}

case "${1:-}" in
  start) start ;;
  collect) collect "$2" ;;
  queue) queue "$2" ;;
  *) sed -n '2,14p' "$0" && exit 2 ;;
esac
