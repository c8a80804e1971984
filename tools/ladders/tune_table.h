// The table that `tune` writes and the library reads (select/tuning.h): what was measured, and the
// constants that follow from it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/status.h"
#include "harness/fit.h"
#include "protocol.h"

namespace ridge::ladders {

// One variant of a rung on one case, timed.
struct TuneSample {
  std::string rung, variant, case_text;
  harness::TimedTerms timed;
};

class TuneTable {
 public:
  TuneTable(std::string file, std::string family, std::string gpu, bool software, uint64_t seed)
      : file_(std::move(file)),
        family_(std::move(family)),
        gpu_(std::move(gpu)),
        software_(software),
        seed_(seed) {}

  // Takes over what the file has; a file that is not there has nothing. An error says why the file
  // is none of this device.
  Status read();
  bool has(const std::string& rung, const std::string& variant, const std::string& case_text) const;
  void add(TuneSample sample);
  // What a variant that gives wrong results has, too, is removed.
  void forget(const std::string& rung, const std::string& variant);

  std::vector<TunedAnswer> fitted() const;  // in the order of the samples
  Status write() const;                     // at once: a reader sees the old file or the new one

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  std::string file_, family_, gpu_;
  bool software_;
  uint64_t seed_;
  std::vector<TuneSample> samples_;
  std::set<Key> known_;
};

}  // namespace ridge::ladders
