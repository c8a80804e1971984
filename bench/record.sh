#!/usr/bin/env bash
# Records climbs of the operators with a bar in bench/results, one file a family. Needs a GPU; about ten minutes with
# PyTorch, three with --quick.
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

operators() {  # of a family: those whose speed is claimed
  case $1 in
    vector_add) echo vector_add matrix_add ;;
    activation) echo gelu gelu_bwd silu ;;
    glu) echo swiglu swiglu_bwd ;;
    reduce) echo sum dot argmax norm_l2 count_equal ;;
    scan) echo inclusive_scan exclusive_scan ;;
    softmax) echo softmax log_softmax softmax_bwd ;;
    *) echo "$1" ;;
  esac
}

[ ${#families[@]} -gt 0 ] || families=(vector_add activation glu dropout adamw rope embedding matrix_copy transpose
  reduce axis_reduce segmented_reduce normalize scan segmented_scan softmax gemv gemv_t)
for family in "${families[@]}"; do
  echo "== $family" >&2
  # shellcheck disable=SC2046  # one word an operator
  "$root/ridge" --preset gpu climb --device gpu "${flags[@]}" $(operators "$family") \
    --json "$root/bench/results/$family.json"
done
