// The model of time listens from the start where the environment asks for it: one line of JSON per
// launch goes to the file that RIDGE_MODEL names, and what was copied at the end. With
// RIDGE_CLOCK=model events take their times from it. With RIDGE_MODEL_SAMPLED it runs only those
// blocks that it needs.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/text.h"
#include "vm/timing/timekeeper.h"

namespace ridge::vm::timing {
namespace {

void write_line(std::FILE* out, const LaunchTime& launch) {
  const Dim3 &g = launch.grid, &b = launch.block;
  const model::Prediction& time = launch.time;
  const model::SmTime& sm = time.sm;
  std::string notes;
  for (const std::string& note : time.notes)
    notes += (notes.empty() ? ", \"notes\": [" : ", ") + in_quotes(note);
  if (!notes.empty()) notes += "]";
  std::fprintf(
      out,
      "{\"name\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"own_us\": %.3f, "
      "\"modelled_us\": %.3f, "
      "\"modelled_low_us\": %.3f, \"modelled_high_us\": %.3f, \"checked\": %s, \"bound\": %s, "
      "\"why\": %s, \"shares\": "
      "{\"memory\": %.3f, \"l2\": %.3f, \"l1_shared\": %.3f, \"issue\": %.3f, \"atomics\": "
      "%.3f}%s}\n",
      in_quotes(launch.kernel).c_str(), g.x, g.y, g.z, b.x, b.y, b.z, time.own_us(), time.us,
      time.low_us, time.high_us, time.checked ? "true" : "false", in_quotes(time.bound).c_str(),
      in_quotes(time.why).c_str(), sm.dram_of_peak, sm.l2_of_peak, sm.lsu, sm.issue, sm.atomics,
      notes.c_str());
  std::fflush(out);
}

const char* name_of(model::Way way) {
  switch (way) {
    case model::Way::to_device: return "to_device";
    case model::Way::to_host: return "to_host";
    case model::Way::within_device: return "within_device";
    case model::Way::fill: return "fill";
  }
  return "";
}

// What was copied, and how long all of it takes: the last line.
void write_summary(std::FILE* out, const Timekeeper::Summary& summary) {
  std::fprintf(out, "{\"total_us\": %.3f, \"copies\": [", summary.us);
  for (const Copies& copies : summary.copies)
    std::fprintf(out,
                 "%s{\"way\": \"%s\", \"pageable\": %s, \"count\": %llu, \"bytes\": %.0f, "
                 "\"modelled_us\": %.3f, \"bound\": \"%s\"}",
                 &copies == summary.copies.data() ? "" : ", ", name_of(copies.way),
                 copies.is_pageable ? "true" : "false",
                 static_cast<unsigned long long>(copies.count), copies.bytes, copies.us,
                 copies.way == model::Way::to_device || copies.way == model::Way::to_host
                     ? "link"
                     : "memory");
  std::fprintf(out, "]}\n");
  std::fflush(out);
}

// As the runtime will have it, which complains of a name that it does not know.
GpuSpec chosen_gpu() {
  const char* const key = std::getenv("RIDGE_GPU");
  const auto known = find_gpu(key ? key : "");
  return known ? *known : all_gpus().front();
}

// Writes to a file as launches end.
class Writer final : public Timekeeper {
 public:
  Writer(std::FILE* out, bool events, bool sampled)
      : Timekeeper(
            [out](const LaunchTime& launch) {
              if (out) write_line(out, launch);
            },
            {.sampled = sampled}, chosen_gpu(), events),
        out_(out) {}
  void finish() override {
    if (out_) write_summary(out_, summary());
  }

 private:
  std::FILE* const out_;
};

__attribute__((constructor)) void start() {
  const char* path = std::getenv("RIDGE_MODEL");
  const char* clock = std::getenv("RIDGE_CLOCK");
  const bool events = clock && std::string_view(clock) == "model";
  const bool writes = path && *path;
  if (!writes && !events) return;
  std::FILE* const out = writes ? std::fopen(path, "we") : nullptr;
  if (writes && !out) {  // before the program has done any work
    std::fprintf(stderr, "ridge: cannot write modelled times to %s: %s\n", path,
                 std::strerror(errno));
    std::_Exit(1);
  }
  add_observer(
      new Writer(out, events, std::getenv("RIDGE_MODEL_SAMPLED")));  // outlives every launch
}

}  // namespace
}  // namespace ridge::vm::timing
