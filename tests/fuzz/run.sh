#!/bin/sh
# The long run, with clang's libFuzzer and the sanitizers:
#
#   tests/fuzz/run.sh TARGET BUILD [flag…]      tests/fuzz/run.sh parse build/vm -max_total_time=3600
#
# TARGET is fatbin, parse, print, link or load; BUILD is a build folder: programs in it are the first corpus, and the
# instruction tables come from it as they are (what reads bytes is parse, exec and cudart; clang compiles those). What
# was found so far stays in BUILD/fuzz/TARGET, and a crash is written there.
set -eu
target=$1 build=$(realpath "$2")
shift 2
root=$(realpath "$(dirname "$0")/../..")
out=$build/fuzz/$target
mkdir -p "$out/corpus" "$out/objects"

[ -e "$build/tests/fuzz_corpus" ] && "$build/tests/fuzz_corpus" "$target" "$build" "$out/corpus"

flags="-std=c++20 -g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-sanitize=enum"
newest=$(find "$root/src" "$root/include" "$root/tests" -name '*.h' -printf '%T@ %p\n' | sort -rn | head -n 1 | cut -d ' ' -f 2-)
objects=
for source in "$root"/src/core/*.cpp "$root"/src/vm/parse/*.cpp "$root"/src/vm/mem/*.cpp "$root"/src/vm/exec/*.cpp \
              "$root"/src/vm/cudart/fatbin*.cpp "$root"/src/vm/cudart/ptx_link.cpp "$root"/tests/fuzz/targets.cpp \
              "$root"/tests/vm/parse/same_module.cpp; do
  object=$build/fuzz/objects/$(echo "${source#"$root"/}" | tr / _).o
  mkdir -p "$build/fuzz/objects"
  objects="$objects $object"
  [ "$object" -nt "$source" ] && [ "$object" -nt "$newest" ] && continue
  # shellcheck disable=SC2086
  clang++ $flags -I"$root/src" -I"$root/include" -I"$root/tests/vm/parse" -I"${CUDA_HOME:-/usr/local/cuda}/include" -c "$source" -o "$object"
done
# shellcheck disable=SC2086
clang++ -std=c++20 -fsanitize=fuzzer,address,undefined -DRIDGE_FUZZ_TARGET="\"$target\"" "$root/tests/fuzz/libfuzzer.cpp" \
  $objects "$build"/src/vm/isa/CMakeFiles/ridge_vm_isa.dir/*.o -lzstd -llz4 -lpthread -o "$out/fuzzer"
exec nice -n 19 "$out/fuzzer" -dict="$root/tests/fuzz/dictionary.txt" -artifact_prefix="$out/" -timeout=10 \
  -rss_limit_mb=4096 -print_final_stats=1 "$@" "$out/corpus"
