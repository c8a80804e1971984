#include "operator_page.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "terminal.h"

namespace ridge::tools {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<std::string>>;

std::string joined(const json& names) {
  return fmt::format("{}", fmt::join(names.get<std::vector<std::string>>(), " "));
}

std::string formats_text(const json& tensor) {
  std::string text = tensor.contains("formats") ? joined(tensor["formats"]) : "";
  if (!tensor.contains("like")) return text;
  const std::string like = tensor["like"];
  if (tensor.contains("derived"))
    return fmt::format("that of {}", tensor["derived"].get<std::string>());
  return text.empty() ? "as " + like : text + ", or as " + like;
}

std::string layout_text(const std::string& layout) {
  static const std::map<std::string, std::string> kWords = {
      {"any", "any strides"},
      {"contiguous", "contiguous"},
      {"dense", "without gaps, dimensions in any order"},
      {"rows", "contiguous rows, one stride between them"},
      {"unit_last", "last dimension contiguous"},
      {"matrix", "one of its dimensions contiguous"}};
  const auto found = kWords.find(layout);
  return found == kWords.end() ? layout : found->second;
}

std::string notes_of(const json& tensor) {
  std::vector<std::string> notes = {layout_text(tensor["layout"])};
  if (tensor.contains("optional")) notes.push_back("optional");
  if (tensor.contains("may_be"))
    notes.push_back(fmt::format(
        "may be {} itself", fmt::join(tensor["may_be"].get<std::vector<std::string>>(), " or ")));
  if (tensor.contains("on_host")) notes.push_back("in host memory");
  if (tensor.contains("meaning")) notes.push_back(tensor["meaning"]);
  return fmt::format("{}", fmt::join(notes, "; "));
}

// "in[rows, cols]"; a single value has no sizes, and no brackets.
std::string tensor_text(const json& tensor) {
  const std::string name = tensor["name"], shape = tensor["shape"];
  return shape.empty() ? name : fmt::format("{}[{}]", name, shape);
}

std::string role_text(const std::string& role) {
  return role == "in" ? "read" : role == "out" ? "written" : "read, written";
}

std::string default_text(const json& parameter) {
  if (parameter.contains("required")) return "";
  const double value = parameter["default"];
  const std::string type = parameter["type"];
  if (type == "choice") return parameter["choices"][size_t(value)];
  if (type == "flag") return value != 0 ? "true" : "false";
  return fmt::format("{:g}", value);
}

std::string range_text(const json& parameter) {
  if (parameter.contains("choices")) return joined(parameter["choices"]);
  std::string text;
  if (parameter.contains("least"))
    text = fmt::format("{} {:g}", parameter.contains("above_least") ? "above" : "from",
                       parameter["least"].get<double>());
  if (parameter.contains("most"))
    text += fmt::format("{}{} {:g}", text.empty() ? "" : " ",
                        parameter.contains("under_most") ? "to under" : "to",
                        parameter["most"].get<double>());
  return text;
}

void print_section(const char* title, const Rows& rows, const std::vector<Align>& columns) {
  if (!rows.empty()) fmt::print("\n{}\n{}", bold(title), table(rows, columns, "  "));
}

}  // namespace

void print_operator(const FamilyEntry& family, const OperatorEntry& op) {
  constexpr Align left = Align::left;
  fmt::print("{}  {}\n", bold(op.name), op.formula);
  if (op.json.contains("notes")) fmt::print("{}\n", op.json["notes"].get<std::string>());
  Rows sizes, tensors, parameters, rungs;
  for (const json& d : op.json["dimensions"])
    sizes.push_back({"--" + d["name"].get<std::string>(), d["meaning"]});
  for (const json& t : op.json["tensors"])
    tensors.push_back({tensor_text(t), role_text(t["role"]), formats_text(t), dim(notes_of(t))});
  for (const json& p : op.json["parameters"])
    parameters.push_back({"--" + p["name"].get<std::string>(), p["type"], default_text(p),
                          range_text(p), p.value("meaning", "")});
  for (size_t r = 0; r < family.rungs.size(); ++r)
    rungs.push_back({fmt::format("{:02}", r + 1), family.rungs[r].name, family.rungs[r].idea});
  print_section("Sizes, in the order of --shape", sizes, {left, left});
  print_section("Tensors", tensors, {left, left, left, left});
  print_section("Parameters, with defaults and ranges", parameters,
                {left, left, Align::right, left, left});
  print_section("Rungs", rungs, {left, left, left});
  Rows more = {{"--dtype", fmt::format("{}", fmt::join(op.formats, " "))}};
  if (!op.distributions.empty())
    more.push_back({"--distribution", fmt::format("{}", fmt::join(op.distributions, " "))});
  if (!op.on_request.empty())
    more.push_back({"--with", fmt::format("{}", fmt::join(op.on_request, ","))});
  if (op.json.contains("backward")) more.push_back({"backward", op.json["backward"]});
  if (!family.rivals.empty())
    more.push_back({"beside it", fmt::format("{}", fmt::join(family.rivals, ", "))});
  more.push_back({"C", fmt::format("ridge_{}, ridge/c.h", op.name)});
  more.push_back(
      {"C++", fmt::format("ridge::{}, {}", op.name, op.json.value("header", "ridge/operators.h"))});
  print_section("More", more, {left, left});
  fmt::print("\n`ridge climb {}` climbs it, `ridge explain {}` says which rung a size gets.\n",
             op.name, op.name);
}

}  // namespace ridge::tools
