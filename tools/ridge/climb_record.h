// What a climb found, and the files it is kept in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/gpu_spec.h"
#include "core/status.h"
#include "ladders/protocol.h"

namespace ridge::tools {

using ladders::Step;

// One ladder at one size.
struct Climb : ladders::CaseAnswer {
  // Moving as many bytes in the same mix and nothing else, in turn with the steps. No samples where
  // the case is small, hot or on the software GPU.
  ladders::MemoryAnswer memory;
  std::vector<Step> steps;
};

// What memory does at the climb's own size, or else at a gigabyte; bytes per second.
double roof_for(const Climb& climb, const ladders::RoofsAnswer& roofs);

// The shortest time that the case can take: its bytes at what memory does, or its operations at the
// peak of their kind, whichever takes longer.
struct ClimbFloor {
  double us = 0;    // 0: no roof is known
  std::string by;   // "memory", "f32", "tensor f16"
  double rate = 0;  // bytes or operations per second
};
ClimbFloor floor_for(const Climb& climb, const ladders::RoofsAnswer& roofs);

// Adds what the data of a GPU say: peaks of arithmetic, and memory where it was not measured.
void add_roofs_of(const GpuSpec& gpu, ladders::RoofsAnswer& roofs);

struct ClimbRecord {
  nlohmann::json environment;
  ladders::RoofsAnswer roofs;  // measured in the same run
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
