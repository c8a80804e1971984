// ridge list: every operator there is, family by family.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogue.h"
#include "flags.h"
#include "ladders.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

std::vector<std::string> row_of(const LadderEntry& ladder) {
  return {"  " + ladder.family, std::to_string(ladder.rungs.size()),
          fmt::format("{}", fmt::join(ladder.dtypes, " ")),
          fmt::format("{}", fmt::join(ladder.operators, " "))};
}

// One table for all groups, so that its columns stand below each other.
void print_catalogue(const std::vector<LadderEntry>& ladders) {
  std::vector<std::vector<std::string>> rows = {{"family", "rungs", "formats", "operators"}};
  for (const CatalogueGroup& group : catalogue()) {
    rows.push_back({bold(group.name), "", "", ""});
    std::vector<std::string_view> to_come;
    for (const std::string_view family : group.families) {
      const LadderEntry* ladder = find_ladder(ladders, std::string(family));
      if (!ladder) to_come.push_back(family);
      else rows.push_back(row_of(*ladder));
    }
    if (!to_come.empty())
      rows.push_back({dim("  to come"), "", "", dim(fmt::format("{}", fmt::join(to_come, " ")))});
  }
  std::vector<const LadderEntry*> more;  // that the catalogue did not foresee
  for (const LadderEntry& ladder : ladders) {
    const auto has = [&](const CatalogueGroup& group) {
      return std::find(group.families.begin(), group.families.end(), ladder.family) !=
             group.families.end();
    };
    if (std::none_of(catalogue().begin(), catalogue().end(), has)) more.push_back(&ladder);
  }
  if (!more.empty()) rows.push_back({bold("More"), "", "", ""});
  for (const LadderEntry* ladder : more) rows.push_back(row_of(*ladder));
  fmt::print("{}", table(rows, {Align::left, Align::right, Align::left, Align::left}));
}

int list_main(const Arguments& arguments) {
  DeviceFlags flags;
  std::string json;
  bool rungs = false;
  CommandLine line("list", "Shows the operators, their number formats and their rungs.");
  line.add_flag("--rungs", rungs, "every rung with its idea");
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  flags.device = "vm";  // what there is does not depend on the device
  const auto target = choose_target(flags);
  if (!target) {
    complain(target.error().message);
    return target.error().code;
  }
  const auto ladders = list_ladders(*target);
  if (!ladders) {
    complain(ladders.error().message);
    return ladders.error().code;
  }
  if (!json.empty()) {
    nlohmann::json record = {{"schema", 1}, {"ridge", RIDGE_VERSION}};
    for (const LadderEntry& ladder : *ladders) {
      nlohmann::json entry = {{"family", ladder.family},
                              {"summary", ladder.summary},
                              {"operators", ladder.operators},
                              {"dtypes", ladder.dtypes},
                              {"shape", ladder.shape}};
      for (const auto& [name, idea] : ladder.rungs)
        entry["rungs"].push_back({{"name", name}, {"idea", idea}});
      record["ladders"].push_back(entry);
    }
    if (const Status written = write_record(record, json); !written) {
      complain(written.message());
      return written.code();
    }
    if (json == "-") return kFine;
  }
  size_t operators = 0, steps = 0;
  if (rungs) {
    for (const LadderEntry& ladder : *ladders) {
      fmt::print("{}  {}\n", bold(ladder.family), dim(ladder.summary));
      std::vector<std::vector<std::string>> rows;
      for (size_t r = 0; r < ladder.rungs.size(); ++r)
        rows.push_back(
            {fmt::format("{:02}", r + 1), ladder.rungs[r].first, ladder.rungs[r].second});
      fmt::print("{}\n", table(rows, {Align::left, Align::left, Align::left}, "  "));
    }
  } else {
    print_catalogue(*ladders);
  }
  for (const LadderEntry& ladder : *ladders)
    operators += ladder.operators.size(), steps += ladder.rungs.size();
  fmt::print("\n{} operators in {} families, {} rungs. `ridge climb OPERATOR` climbs one.\n",
             operators, ladders->size(), steps);
  return kFine;
}

}  // namespace

extern const Verb list_verb = {
    .position = 50,
    .name = "list",
    .summary = "the operators there are, their formats and rungs",
    .main = list_main,
};

}  // namespace ridge::tools
