// ridge device: what this device is, in one screen.
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/occupancy.h"
#include "flags.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

constexpr int kBlockSizes[] = {32, 64, 128, 256, 512, 1024};
constexpr int kRegisters[] = {32, 64, 128, 255};

double bandwidth(const GpuSpec& gpu) {  // bytes per second; two transfers per clock
  return 2.0 * gpu.memory_clock_khz * 1e3 * gpu.memory_bus_bits / 8;
}

std::string other_gpus(const GpuSpec& chosen) {
  std::vector<std::string> names;
  for (const GpuSpec& gpu : all_gpus())
    if (gpu.key != chosen.key) names.emplace_back(gpu.key);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string identity(const Target& target) {
  const GpuSpec& gpu = target.gpu;
  std::vector<std::vector<std::string>> rows;
  if (target.software) {
    const Host here = host();
    rows.push_back(
        {"runs on", fmt::format("{}, {} core{}, {}, {}", here.cpu, here.cores,
                                here.cores == 1 ? "" : "s", here.simd, bytes(here.memory_bytes))});
    rows.push_back({"says it is", fmt::format("{}, compute capability {}.{}", target.name,
                                              gpu.major, gpu.minor)});
  } else {
    rows.push_back({"compute capability", fmt::format("{}.{}, driver for CUDA {}", gpu.major,
                                                      gpu.minor, target.driver_version)});
  }
  rows.push_back({"", fmt::format("{} SMs at {:.2f} GHz, {} at {:.2f} TB/s, L2 {}", gpu.sm_count,
                                  gpu.clock_khz / 1e6, bytes(gpu.memory_bytes),
                                  bandwidth(gpu) / 1e12, bytes(gpu.l2_bytes))});
  if (target.software) rows.push_back({"--gpu can say", other_gpus(gpu)});
  return table(rows, {Align::left, Align::left}, "  ");
}

std::string limits(const GpuSpec& gpu) {
  const auto number = [](int64_t n) { return thousands(uint64_t(n)); };
  return table({{"", "per SM", "per block", "per thread"},
                {"threads", number(gpu.max_threads_per_sm), number(kMaxThreadsPerBlock), ""},
                {"warps", number(gpu.max_threads_per_sm / kWarpSize),
                 number(kMaxThreadsPerBlock / kWarpSize), ""},
                {"blocks", number(gpu.max_blocks_per_sm), "", ""},
                {"registers", number(gpu.registers_per_sm), number(kMaxRegistersPerBlock),
                 number(kMaxRegistersPerThread)},
                {"shared memory", bytes(gpu.shared_per_sm), bytes(kSharedPerBlock), ""},
                {"  if asked for", "", bytes(gpu.shared_per_block_optin), ""}},
               {Align::left, Align::right, Align::right, Align::right}, "  ");
}

std::string occupancy_cell(const Occupancy& o) {
  if (o.blocks_per_sm == 0) return dim("-");
  return fmt::format("{} = {:.0f}% {}", o.blocks_per_sm, 100 * o.fraction,
                     dim(to_string(o.limiter)));
}

std::string occupancy_table(const GpuSpec& gpu) {
  std::vector<std::vector<std::string>> rows = {{"block size"}};
  std::vector<Align> columns = {Align::right};
  for (const int registers : kRegisters) {
    rows[0].push_back(fmt::format("{} registers", registers));
    columns.push_back(Align::left);
  }
  for (const int threads : kBlockSizes) {
    rows.push_back({std::to_string(threads)});
    for (const int registers : kRegisters)
      rows.back().push_back(occupancy_cell(occupancy(gpu, {threads, registers, 0})));
  }
  return table(rows, columns, "  ");
}

nlohmann::json device_record(const Target& target) {
  const GpuSpec& gpu = target.gpu;
  nlohmann::json record = record_of(target);
  record["limits"] = {{"sm_count", gpu.sm_count},
                      {"threads_per_sm", gpu.max_threads_per_sm},
                      {"threads_per_block", kMaxThreadsPerBlock},
                      {"blocks_per_sm", gpu.max_blocks_per_sm},
                      {"registers_per_sm", gpu.registers_per_sm},
                      {"registers_per_thread", kMaxRegistersPerThread},
                      {"shared_bytes_per_sm", gpu.shared_per_sm},
                      {"shared_bytes_per_block", kSharedPerBlock},
                      {"shared_bytes_per_block_optin", gpu.shared_per_block_optin},
                      {"memory_bytes", gpu.memory_bytes},
                      {"memory_bytes_per_second", bandwidth(gpu)},
                      {"l2_bytes", gpu.l2_bytes},
                      {"clock_khz", gpu.clock_khz}};
  for (const int threads : kBlockSizes)
    for (const int registers : kRegisters) {
      const Occupancy o = occupancy(gpu, {threads, registers, 0});
      record["occupancy"].push_back({{"block_threads", threads},
                                     {"registers_per_thread", registers},
                                     {"blocks_per_sm", o.blocks_per_sm},
                                     {"fraction", o.fraction},
                                     {"limiter", to_string(o.limiter)}});
    }
  return record;
}

int device_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string json;
  CommandLine line("device", "Says what this device is, and how much fits on one of its SMs.");
  line.add_device(flags);
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  const auto target = choose_target(flags);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  if (!json.empty()) {
    if (const Status written = write_record(device_record(*target), json); !written) {
      complain(written.message());
      return written.code();
    }
    if (json == "-") return kFine;
  }
  fmt::print("{}\n{}\n", bold(target->software ? "Ridge's software GPU" : target->name),
             identity(*target));
  fmt::print("{}\n{}\n", bold("Limits"), limits(target->gpu));
  fmt::print("{}\n{}",
             bold("Blocks on an SM, the share of its warps they fill, and what keeps out the next"),
             occupancy_table(target->gpu));
  return kFine;
}

}  // namespace

extern const Verb device_verb = {
    .position = 80,
    .name = "device",
    .summary = "show what this device is, and how much fits on one of its SMs",
    .main = device_main,
};

}  // namespace ridge::tools
