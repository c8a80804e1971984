// ridge list [OPERATOR…]: every operator there is, family by family; or one as a page.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogue.h"
#include "flags.h"
#include "ladders.h"
#include "operator_page.h"
#include "record.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

std::vector<std::string> row_of(const FamilyEntry& family) {
  std::vector<std::string> operators, formats;
  for (const OperatorEntry& op : family.operators) {
    operators.push_back(op.name);
    for (const std::string& format : op.formats)
      if (!std::ranges::count(formats, format)) formats.push_back(format);
  }
  return {"  " + family.name, std::to_string(family.rungs.size()),
          fmt::format("{}", fmt::join(formats, " ")), fmt::format("{}", fmt::join(operators, " "))};
}

// One table for all groups, so that its columns stand below each other.
void print_catalogue(const Catalogue& all) {
  std::vector<std::vector<std::string>> rows = {{"family", "rungs", "formats", "operators"}};
  std::vector<std::string> foreseen;
  const auto add_row = [&](std::string_view name) {
    for (const FamilyEntry& family : all.families())
      if (family.name == name) {
        rows.push_back(row_of(family));
        return true;
      }
    return false;
  };
  for (const CatalogueGroup& group : catalogue()) {
    rows.push_back({bold(group.name), "", "", ""});
    std::vector<std::string_view> to_come;
    for (const std::string_view family : group.families) {
      foreseen.emplace_back(family);
      if (!add_row(family)) to_come.push_back(family);
    }
    if (!to_come.empty())
      rows.push_back({dim("  to come"), "", "", dim(fmt::format("{}", fmt::join(to_come, " ")))});
  }
  bool titled = false;
  for (const FamilyEntry& family : all.families()) {
    if (std::ranges::count(foreseen, family.name)) continue;
    if (!titled) rows.push_back({bold("More"), "", "", ""});
    titled = true;
    add_row(family.name);
  }
  fmt::print("{}", table(rows, {Align::left, Align::right, Align::left, Align::left}));
}

void print_rungs(const Catalogue& all) {
  for (const FamilyEntry& family : all.families()) {
    fmt::print("{}  {}\n", bold(family.name), dim(family.operators.front().formula));
    std::vector<std::vector<std::string>> rows;
    for (size_t r = 0; r < family.rungs.size(); ++r)
      rows.push_back({fmt::format("{:02}", r + 1), family.rungs[r].name, family.rungs[r].idea});
    fmt::print("{}\n", table(rows, {Align::left, Align::left, Align::left}, "  "));
  }
}

nlohmann::json to_json(const Catalogue& all, const std::vector<Catalogue::Found>& wanted) {
  nlohmann::json record = {{"schema", 2}, {"ridge", RIDGE_VERSION}};
  for (const FamilyEntry& family : all.families()) {
    nlohmann::json entry = {{"family", family.name}, {"operators", nlohmann::json::array()}};
    for (const OperatorEntry& op : family.operators)
      if (wanted.empty() ||
          std::ranges::any_of(wanted, [&](const auto& found) { return found.op == &op; }))
        entry["operators"].push_back(op.json);
    if (entry["operators"].empty()) continue;
    for (const auto& [name, idea] : family.rungs)
      entry["rungs"].push_back({{"name", name}, {"idea", idea}});
    record["families"].push_back(entry);
  }
  return record;
}

Status show(const Catalogue& all, const std::vector<std::string>& names, bool rungs, bool plain,
            const std::string& json) {
  std::vector<Catalogue::Found> wanted;
  for (const std::string& name : names) {
    const auto found = all.find(name);
    if (!found) return found.error();
    wanted.push_back(*found);
  }
  if (!json.empty())
    if (const Status written = write_record(to_json(all, wanted), json); !written) return written;
  if (json == "-") return Status::ok();
  if (plain) {
    for (const FamilyEntry& family : all.families())
      for (const OperatorEntry& op : family.operators) fmt::print("{}\n", op.name);
    return Status::ok();
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print_operator(*wanted[i].family, *wanted[i].op);
  }
  if (!wanted.empty()) return Status::ok();
  if (rungs) print_rungs(all);
  else print_catalogue(all);
  size_t operators = 0, steps = 0;
  for (const FamilyEntry& family : all.families())
    operators += family.operators.size(), steps += family.rungs.size();
  fmt::print(
      "\n{} operators in {} families, {} rungs. `ridge list OPERATOR` says more of one, `ridge "
      "climb OPERATOR` climbs it.\n",
      operators, all.families().size(), steps);
  return Status::ok();
}

int list_main(const Arguments& arguments) {
  std::vector<std::string> names;
  std::string json;
  bool rungs = false, plain = false;
  CommandLine line("list",
                   "Shows all operators, or one with its formula, tensors, parameters and rungs.");
  line.add_arguments("OPERATOR", names, "a name; without one: all operators, family by family");
  line.add_flag("--rungs", rungs, "show every rung with its idea");
  line.add_flag("--names", plain, "show only the names of the operators");
  line.add_json(json);
  if (const auto done = line.parse(arguments)) return *done;
  const auto target = choose_target(DeviceFlags());  // what there is does not depend on the device
  const auto all = target ? Catalogue::ask(*target) : Expected<Catalogue>(target.error());
  const Status shown = all ? show(*all, names, rungs, plain, json) : Status(all.error());
  if (shown) return kFine;
  complain(shown.message());
  return shown.code();
}

}  // namespace

extern const Verb list_verb = {
    .position = 50,
    .name = "list",
    .summary = "show all operators with their formats and rungs",
    .main = list_main,
};

}  // namespace ridge::tools
