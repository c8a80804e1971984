// The program that holds the ladders, asked from here. It runs on the device it is sent to and
// answers in lines of JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.h"
#include "target.h"

namespace ridge::tools {

// Runs one of its commands; every line goes to `heard`. The status is what the command said went
// wrong.
Status ask_ladders(const Target& target, const std::vector<std::string>& arguments,
                   const std::function<void(const nlohmann::json&)>& heard, bool quiet = true);

struct LadderEntry {
  std::string family, summary, shape;
  std::vector<std::string> operators, dtypes;
  std::vector<std::pair<std::string, std::string>> rungs;  // name, idea
};
Expected<std::vector<LadderEntry>> list_ladders(const Target& target);

// Each word as an operator; one that is none gets an error with the nearest name.
Status check_operators(const std::vector<LadderEntry>& ladders,
                       const std::vector<std::string>& words);

// That of an operator or a family; none: null.
const LadderEntry* find_ladder(const std::vector<LadderEntry>& ladders, const std::string& name);

// A rung's own name, which may be given with its number: 03_padded. Where the operator has none of
// that name, an error with the nearest.
Expected<std::string> rung_name(const std::vector<LadderEntry>& ladders, const std::string& name,
                                const std::string& wanted);

std::string ladders_program();  // its path

}  // namespace ridge::tools
