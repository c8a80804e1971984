#include "vm/timing/known.h"

#include <cstring>

#include "vm/exec/grid.h"

namespace ridge::vm::timing {
namespace {

constexpr uint64_t kModelledAlike = 3, kModelledOfShape = 24;

}  // namespace

std::string scalars_of(const GridRun& grid) {
  const std::vector<uint8_t>& params = grid.launch->params;
  const Allocations& memory = grid.engine->memory();
  std::string scalars;
  for (size_t at = 0; at < params.size(); at += 8) {
    const size_t bytes = std::min<size_t>(8, params.size() - at);
    uint64_t word = 0;
    std::memcpy(&word, params.data() + at, bytes);
    if (bytes == 8 && memory.find(word)) continue;  // a pointer
    scalars.append(reinterpret_cast<const char*>(params.data() + at), bytes);
  }
  return scalars;
}

std::optional<model::Prediction> KnownLaunches::find(const std::string& shape,
                                                     const std::string& scalars) const {
  const auto alike = alike_.find(shape + '\n' + scalars);
  if (alike != alike_.end() && alike->second.launches >= kModelledAlike) return alike->second.time;
  const auto all = of_shape_.find(shape);
  if (all == of_shape_.end() || all->second.launches < kModelledOfShape) return std::nullopt;
  return alike != alike_.end() ? alike->second.time : all->second.time;
}

void KnownLaunches::add(const std::string& shape, const std::string& scalars,
                        const model::Prediction& time) {
  for (Known* known : {&of_shape_[shape], &alike_[shape + '\n' + scalars]}) {
    known->time = time;
    ++known->launches;
  }
}

}  // namespace ridge::vm::timing
