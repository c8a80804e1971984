#include "old_names.h"

#include <iterator>

namespace ridge::tools {
namespace {

using nlohmann::json;

struct Renamed {
  const char* old;
  const char* now;
  const char* settings = "";  // what the name said and now is a setting of the case, to be read
  const char* asked = "{}";   // the same as JSON
  const char* more_shape = "";
};
constexpr Renamed kRenamed[] = {
    {"vector_add", "add"},
    {"matrix_add", "add"},
    {"matrix_copy", "copy"},
    {"reverse_array", "reverse"},
    {"reverse_in_place", "reverse", "out=in", R"({"same": {"out": "in"}})"},
    {"rope_interleaved", "rope", "interleaved=1", R"({"parameters": {"interleaved": 1}})"},
    {"rope_interleaved_bwd", "rope_backward", "interleaved=1",
     R"({"parameters": {"interleaved": 1}})"},
    {"adamw_many", "adamw", "", "{}", "x100"},  // that many tensors
    {"vote_runs", "vote", "distribution=runs", R"({"distribution": "runs"})"},
    {"gemv_update", "gemv", "alpha=1.5 beta=-0.5",
     R"({"parameters": {"alpha": 1.5, "beta": -0.5}})"},
    {"gemv_t_update", "gemv_t", "alpha=1.5 beta=-0.5",
     R"({"parameters": {"alpha": 1.5, "beta": -0.5}})"},
};

// Rungs, by today's name of their operator. The name of a rung that is gone is never used again for
// another one: records would mix up the two.
struct RenamedRung {
  const char* operator_;
  const char* old;
  const char* now;
};
constexpr RenamedRung kRenamedRungs[] = {{"gemv", "vectors", "split_rows"}};

void rename_rungs(Climb& climb) {
  for (const RenamedRung& row : kRenamedRungs) {
    if (climb.operator_ != row.operator_) continue;
    for (Step& step : climb.steps)
      for (std::string* name : {&step.name, &step.beside})
        if (*name == row.old) *name = row.now;
  }
}

// The shape of reductions of segments had a third number, which said how long the segments are.
// "alike" is the default.
constexpr const char* kSpreads[] = {"alike", "random", "one_huge", "most_empty"};

void rename_segments(Climb& climb) {
  const size_t last = climb.shape.rfind('x');
  if (last == climb.shape.npos || climb.shape.find('x') == last) return;
  const std::string number = climb.shape.substr(last + 1);
  if (number.size() != 1 || number[0] < '0' || number[0] >= char('0' + std::size(kSpreads))) return;
  climb.shape.resize(last);
  if (number == "0") return;
  climb.asked.distribution = kSpreads[number[0] - '0'];
  climb.settings = std::string("distribution=") + kSpreads[number[0] - '0'];
}

void rename_operator(Climb& climb) {
  constexpr std::string_view kBackward = "_bwd";
  for (const Renamed& row : kRenamed) {
    if (climb.operator_ != row.old) continue;
    climb.operator_ = row.now;
    climb.settings = row.settings;
    from_json(json::parse(row.asked), climb.asked);
    climb.shape += row.more_shape;
    return;
  }
  if (climb.operator_.ends_with(kBackward))
    climb.operator_.replace(climb.operator_.size() - kBackward.size(), kBackward.size(),
                            "_backward");
  if (climb.operator_.starts_with("segmented_")) rename_segments(climb);
}

}  // namespace

void rename_old(Climb& climb) {
  rename_operator(climb);
  rename_rungs(climb);
}

}  // namespace ridge::tools
