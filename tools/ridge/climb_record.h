// What a climb found, and the files it is kept in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.h"

namespace ridge::tools {

// One rung, or one rival.
struct Step {
  std::string name, idea;
  bool rival = false;
  std::string wrong;        // what is wrong with its result
  std::string unsupported;  // why it cannot do this case
  std::string failed;       // why it could not be timed
  std::vector<double> us;   // samples
  // For a rival that ran in its own process: our rung that took turns with it there, and the
  // samples of that rung.
  std::string beside;
  std::vector<double> beside_us;
  bool by_graph = false;
  double implausible_under = 0;  // µs; its median is under what physics allows
  std::optional<uint64_t> warp_instructions, thread_instructions;
};

// What a case can have beside operator, format and shape.
constexpr const char* kAskedKeys[] = {"formats", "parameters", "distribution", "same"};

// One ladder at one size.
struct Climb {
  std::string operator_, dtype, shape;
  std::string settings;  // what else distinguishes the case, to be read: "alpha=2"
  nlohmann::json asked;  // the same, under kAskedKeys, as far as there is any
  std::string unit;
  std::string verified_at;  // the shape
  std::string verified_by;  // "reference", "samples" or "samples and proof"
  int64_t samples = 0;      // elements of the result that were looked at; 0: all
  uint64_t seed = 1;
  double read = 0, written = 0, flops = 0;
  // Samples of a kernel that moves as many bytes in the same mix and does nothing else, in turns
  // with the steps; and which: "copy", "read" or "write". None if the case is small, hot or on the
  // software GPU.
  std::vector<double> memory_us;
  std::string memory_by;
  std::vector<Step> steps;
};

struct Roofs {  // bytes per second, measured in the same run; all 0 on the software GPU
  double copy = 0, read = 0, write = 0, pins = 0;
  nlohmann::json weather;
  // The rate of the memory at the size of the climb, or else at a gigabyte.
  double for_climb(const Climb& climb) const;
};

struct ClimbRecord {
  nlohmann::json environment;
  Roofs roofs;
  std::vector<Climb> climbs;
};

// Whether two climbs are of the same case.
bool is_same_case(const Climb& a, const Climb& b);

nlohmann::json to_json(const ClimbRecord& record);
Expected<ClimbRecord> read_climb_record(const std::string& file);
std::string_view result_of(const Step& step);   // right, wrong, not here, failed, implausible
std::string to_csv(const ClimbRecord& record);  // one line per step, with a header

double median(std::vector<double> samples);

// By how many times a rung is faster than a rival. Samples are compared with those of the rung that
// took turns with the rival; for another rung, that ratio is multiplied by the ratio of our two
// rungs.
double times_faster(const Climb& climb, const Step& rung, const Step& rival);

}  // namespace ridge::tools
