#!/usr/bin/env bash
# Records climbs in bench/results, one file per family: of the operators whose speed is claimed, or of all.
# Needs a GPU; about seven minutes with PyTorch, less with --quick.
#
#   bench/record.sh [--quick] [FAMILY…]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
flags=()
families=()
for word in "$@"; do
  case $word in
    -*) flags+=("$word") ;;
    *) families+=("$word") ;;
  esac
done

operators() {  # of a family
  case $1 in
    activation) echo gelu gelu_backward silu ;;
    glu) echo swiglu swiglu_backward ;;
    dyt) echo dyt dyt_backward ;;
    reduce) echo sum dot argmax norm_l2 count_equal ;;
    axis_reduce) echo sum_axis max_axis argmax_axis ;;
    scan) echo inclusive_scan exclusive_scan ;;
    softmax) echo softmax log_softmax softmax_backward ;;
    normalize) echo l1_normalize l2_normalize clip_by_global_norm ;;
    rearrange) echo reverse swap interleave ;;
    image) echo rgb_invert rgb_to_gray blur_box blur_gaussian ;;
    *) "$root/ridge" --preset gpu list --json - | python3 -c 'import json, sys
print(*(op["name"] for one in json.load(sys.stdin)["families"] if one["family"] == sys.argv[1] for op in one["operators"]))' "$1" ;;
  esac
}

if [ ${#families[@]} -eq 0 ]; then
  names=$("$root/ridge" --preset gpu list --json - |
    python3 -c 'import json, sys; print(*(one["family"] for one in json.load(sys.stdin)["families"]), sep="\n")')
  mapfile -t families <<< "$names"
fi
for family in "${families[@]}"; do
  echo "== $family" >&2
  # shellcheck disable=SC2046  # one word per operator
  "$root/ridge" --preset gpu climb --device gpu "${flags[@]}" $(operators "$family") \
    --json "$root/bench/results/$family.json"
done
"$root/bench/summary.py"
