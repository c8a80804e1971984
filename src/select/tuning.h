// Constants that `ridge tune` fitted on the device at hand, in place of those in the sources.
//
// A table is a JSON file for each GPU and family:
// $XDG_CONFIG_HOME/ridge/tuning/nvidia-h200/gemm.json, or below ~/.config. docs/ladders.md shows
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device_info.h"
#include "core/status.h"
#include "select/terms.h"

namespace ridge {

constexpr int kTuningSchema = 1;

// One number for one variant of a rung, so that a lookup compares no text.
using TuningKey = uint64_t;
constexpr TuningKey tuning_key(std::string_view family, std::string_view rung,
                               std::string_view variant) {
  TuningKey key = 14695981039346656037u;  // FNV-1a
  for (const std::string_view part : {family, rung, variant}) {
    for (const char c : part) key = (key ^ static_cast<unsigned char>(c)) * 1099511628211u;
    key = (key ^ '/') * 1099511628211u;
  }
  return key;
}

// The tables of one device. It does not change once it is made.
class Tuning {
 public:
  // Of this GPU: every table in the folder. Tables that cannot be used are left out, and told of in
  // problems().
  static Tuning load(const std::string& folder, const std::string& gpu, bool software);

  const Constants* find(TuningKey key) const;  // nullptr: not tuned
  bool empty() const { return constants_.empty(); }
  const std::vector<std::string>& files() const { return files_; }        // in use
  const std::vector<std::string>& problems() const { return problems_; }  // what and what to do

 private:
  std::vector<std::pair<TuningKey, Constants>> constants_;  // sorted
  std::vector<std::string> files_, problems_;
};

// The tables of the software GPU, whose times are modelled, lie apart from those of the real one.
std::string tuning_folder(const std::string& gpu, bool software);

// The constants of a rung's variants: those of the sources, unless the device has its own.
template <size_t kCount>
struct TunedVariants {
  std::array<TuningKey, kCount> keys;
  std::array<Constants, kCount> built_in;

  constexpr TunedVariants(const char* family, const char* rung, const char* const (&names)[kCount],
                          const std::array<Constants, kCount>& constants)
      : keys(), built_in(constants) {
    for (size_t i = 0; i < kCount; ++i) keys[i] = tuning_key(family, rung, names[i]);
  }
  const Constants& of(const DeviceInfo& device, int variant) const {
    if (device.tuning)
      if (const Constants* const found = device.tuning->find(keys[size_t(variant)])) return *found;
    return built_in[size_t(variant)];
  }
};

}  // namespace ridge
