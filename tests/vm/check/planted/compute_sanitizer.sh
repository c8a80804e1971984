#!/usr/bin/env bash
# compute-sanitizer's four tools over the planted bugs and their fixed twins, on a real GPU; about five minutes. Writes
# compute_sanitizer.csv beside itself: errors reported, "hang" after 20 s, or "?" where the tool says nothing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export folder

run() {  # file name kind tool [fixed]
  local file=$1 name=$2 kind=$3 tool=$4 fixed=${5:-} extra="" said count code=0
  [ "$tool" != memcheck ] || extra="--leak-check full"
  # shellcheck disable=SC2086  # words of their own
  said=$(timeout 20 compute-sanitizer --tool "$tool" $extra --print-limit 3 "$folder/$file" "$name" $fixed 2>&1) || code=$?
  count=$(grep -oE "(ERROR|RACECHECK|LEAK) SUMMARY: [0-9]+" <<< "$said" | grep -oE "[0-9]+$" | sort -n | tail -1) || true
  [ $code != 124 ] || count=hang
  echo "$file,$name,$kind,${fixed:-bug},$tool,${count:-?}"
}
export -f run

for source in "$here"/*.cu; do
  program=$(basename "$source" .cu)
  nvcc -std=c++17 -O3 -lineinfo -arch="${ARCH:-native}" -o "$folder/$program" "$source"
  "$folder/$program" list | while read -r name kind; do
    for tool in memcheck racecheck initcheck synccheck; do
      echo "$program $name $kind $tool"
      echo "$program $name $kind $tool fixed"
    done
  done
done > "$folder/jobs"
xargs -P 8 -I{} bash -c 'run {}' < "$folder/jobs" > "$folder/results"
python3 - "$folder/jobs" "$folder/results" > "$here/compute_sanitizer.csv" <<'P'
import sys
tools = ["memcheck", "racecheck", "initcheck", "synccheck"]
counts = {}
for line in open(sys.argv[2]):
    file, name, kind, which, tool, count = line.strip().split(",")
    counts[file, name, kind, which, tool] = count
print("file,name,kind," + ",".join(tools) + "," + ",".join(f"fixed_{t}" for t in tools))
for bug in dict.fromkeys(tuple(line.split()[:3]) for line in open(sys.argv[1])):
    print(",".join([*bug, *(counts[(*bug, which, t)] for which in ("bug", "fixed") for t in tools)]))
P
