#include "measure_gpu.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/gpu_spec.h"
#include "driver.h"
#include "layout.h"
#include "process.h"
#include "record.h"
#include "terminal.h"
#include "toolkit.h"
#include "verb.h"

namespace ridge::tools {
namespace {

namespace fs = std::filesystem;

// As gpus.json has it.
nlohmann::json spec_of(const GpuSpec& gpu) {
  return {{"major", gpu.major},
          {"minor", gpu.minor},
          {"sm_count", gpu.sm_count},
          {"max_threads_per_sm", gpu.max_threads_per_sm},
          {"max_blocks_per_sm", gpu.max_blocks_per_sm},
          {"registers_per_sm", gpu.registers_per_sm},
          {"shared_per_sm", gpu.shared_per_sm},
          {"shared_per_block_optin", gpu.shared_per_block_optin},
          {"shared_reserved_per_block", gpu.shared_reserved_per_block},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"clock_khz", gpu.clock_khz},
          {"memory_clock_khz", gpu.memory_clock_khz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"fp32_lanes_per_sm", gpu.fp32_lanes_per_sm},
          {"fp64_lanes_per_sm", gpu.fp64_lanes_per_sm},
          {"copy_engines", gpu.copy_engines}};
}

}  // namespace

std::string key_of(const std::string& name) {
  std::string key, word;
  for (const char c : name + ' ') {
    if (std::isalnum(uint8_t(c))) {
      word += char(std::tolower(uint8_t(c)));
      continue;
    }
    if (word != "nvidia" && word != "geforce" && word != "tesla" && word != "quadro") key += word;
    word.clear();
    if (c == '-' && !key.empty()) break;  // "A100-SXM4-80GB"
  }
  return key.empty() ? "gpu" : key;
}

Status measure_gpu(const std::string& asked) {
  const auto gpu = find_real_gpu();
  if (!gpu)
    return Error{kMissing,
                 "no GPU here to measure: libcuda.so.1 is missing, does not start, or finds no "
                 "device. The figures of known cards are in Ridge already: ridge run --model "
                 "--gpu NAME"};
  std::error_code error;
  const fs::path script = layout().measure;
  if (!fs::exists(script, error))
    return Error{kMissing,
                 "the programs that measure a GPU are not part of an installed Ridge: run "
                 "`./ridge device --measure` in its sources"};
  const auto toolkit = find_toolkit();
  if (!toolkit) return toolkit.error();  // they are compiled for the card
  const std::string key = gpu->spec.key.empty() ? key_of(gpu->name) : std::string(gpu->spec.key);
  const std::string file = asked.empty() ? key + ".json" : asked;
  if (const Status fine = check_writable(file); !fine) return fine;

  complain(
      fmt::format("measuring {}: builds some programs, then runs them for about a minute; "
                  "nothing else should use the GPU",
                  gpu->name));
  const char* path = std::getenv("PATH");
  const std::string bin = toolkit->nvcc.parent_path();
  const Outcome outcome =
      run({.program = "python3",
           .arguments = {script, "--out", file, "--spec", spec_of(gpu->spec).dump()},
           .environment = {{"PATH", path && *path ? bin + ":" + path : bin}}});
  if (outcome.start_error) return Error{kMissing, "python3 does not start; measuring needs it"};
  if (!outcome.ok())
    return Error{kCudaError, fmt::format("not all of it was measured; what was is in {}", file)};
  fmt::print(
      "{} has the figures of {}. To model times for it:\n"
      "  bench/model/figures.py {}              # what the record says, beside what Ridge has\n"
      "  bench/model/figures.py {} --add {}     # adds it to src/core/gpus.json\n"
      "  ./ridge build && ./ridge run --model --gpu {} FILE.cu\n",
      file, gpu->name, file, file, key, key);
  return Status::ok();
}

}  // namespace ridge::tools
