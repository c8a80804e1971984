// ridge device: what this device is, in one screen.
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/occupancy.h"
#include "flags.h"
#include "measure_gpu.h"
#include "model/figures.h"
#include "model/roofs.h"
#include "record.h"
#include "target.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

constexpr int kBlockSizes[] = {32, 64, 128, 256, 512, 1024};
constexpr int kRegisters[] = {32, 64, 128, 255};

std::string other_gpus(const GpuSpec& chosen) {
  std::vector<std::string> names;
  for (const GpuSpec& gpu : all_gpus())
    if (gpu.key != chosen.key) names.emplace_back(gpu.key);
  return fmt::format("{}", fmt::join(names, " "));
}

// What kernels can reach, in one line.
std::string roofs_text(const GpuSpec& gpu) {
  const model::Roofs roofs = model::roofs_of(gpu);
  const auto tera = [&](Arithmetic kind) { return roofs.of(kind) / 1e12; };
  return fmt::format("{:.2f} TB/s; TFLOP/s: {:.0f} f32, {:.{}f} f64, {:.0f} tensor f16{}",
                     roofs.read / 1e12, tera(Arithmetic::f32), tera(Arithmetic::f64),
                     tera(Arithmetic::f64) < 10 ? 1 : 0, tera(Arithmetic::tensor_f16),
                     roofs.checked ? "" : fmt::format(" ({})", model::kUnchecked));
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
                                  model::roofs_of(gpu).pins / 1e12, bytes(gpu.l2_bytes))});
  rows.push_back({"at most", roofs_text(gpu)});
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
                      {"memory_bytes_per_second", model::roofs_of(gpu).pins},
                      {"l2_bytes", gpu.l2_bytes},
                      {"clock_khz", gpu.clock_khz}};
  const model::Roofs roofs = model::roofs_of(gpu);
  record["roofs"] = {{"checked", roofs.checked},
                     {"read", roofs.read},
                     {"write", roofs.write},
                     {"copy", roofs.copy},
                     {"l2", roofs.l2}};
  for (size_t i = 0; i < kArithmetics; ++i)
    record["roofs"]["operations"][std::string(kArithmeticNames[i])] = roofs.ops[i];
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

int measured(const DeviceFlags& flags, bool measure, const std::string& out) {
  Status status;
  if (!measure) status = Error{kUsage, "--out names the file of --measure: add --measure"};
  else if (flags.device == "vm" || !flags.gpu.empty())
    status = Error{kUsage, "--measure is for a real GPU: leave out --device vm and --gpu"};
  else status = measure_gpu(out);
  return status ? int(kFine) : failed(status);
}

int device_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string json, out;
  bool measure = false;
  CommandLine line("device", "Says what this device is, and how much fits on one of its SMs.");
  line.add_device(flags);
  line.add_json(json);
  line.add_flag("--measure", measure,
                "measure the figures of this GPU that the model of time is made of");
  line.add_option("--out", out, "FILE",
                  "write the measured figures to this file (default: the card's name, .json)");
  if (const auto done = line.parse(arguments)) return *done;
  if (measure || !out.empty()) return measured(flags, measure, out);
  const auto target = choose_target(flags);
  if (!target) return failed(target.error());
  if (!json.empty()) {
    if (const Status written = write_record(device_record(*target), json); !written)
      return failed(written);
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
