#include "select/tuning.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace ridge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Found = std::vector<std::pair<TuningKey, Constants>>;

Constants constants_in(const json& variant) {
  const auto numbers = variant.at("constants").get<std::vector<double>>();
  Constants constants = {};
  if (numbers.size() != constants.size())
    throw std::runtime_error("a variant has " + std::to_string(numbers.size()) +
                             " constants and not " + std::to_string(kTerms));
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!std::isfinite(numbers[i]) || numbers[i] < 0)
      throw std::runtime_error("a constant is negative or no number");
    constants[i] = numbers[i];
  }
  return constants;
}

// Throws what is wrong with the table.
Found read_table(const fs::path& file, const std::string& gpu, bool software) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("it cannot be read");
  // The samples are most of the file, and the library does not need them.
  const json table = json::parse(in, [](int depth, json::parse_event_t event, json& parsed) {
    return !(depth == 1 && event == json::parse_event_t::key && parsed == "samples");
  });
  if (const int schema = table.at("schema").get<int>(); schema != kTuningSchema)
    throw std::runtime_error("its schema is " + std::to_string(schema) + " and not " +
                             std::to_string(kTuningSchema));
  if (table.at("gpu") != gpu || table.at("software") != software)
    throw std::runtime_error("it was made on " + table.at("gpu").get<std::string>() +
                             (table.at("software").get<bool>() ? " (software GPU)" : "") +
                             ", and this is " + gpu + (software ? " (software GPU)" : ""));
  const std::string family = table.at("family").get<std::string>();
  if (family != file.stem()) throw std::runtime_error("it is of the family " + family);
  Found found;
  for (const auto& [rung, variants] : table.at("rungs").items())
    for (const auto& [variant, fitted] : variants.items())
      found.emplace_back(tuning_key(family, rung, variant), constants_in(fitted));
  return found;
}

}  // namespace

std::string tuning_folder(const std::string& gpu, bool software) {
  std::string name;
  for (const char c : gpu)
    name += std::isalnum(static_cast<unsigned char>(c)) ? char(std::tolower(c)) : '-';
  if (software) name += "-software";
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  const char* const home = std::getenv("HOME");
  fs::path base;
  if (config && *config) base = config;
  else base = fs::path(home ? home : "") / ".config";
  return base / "ridge" / "tuning" / name;
}

Tuning Tuning::load(const std::string& folder, const std::string& gpu, bool software) {
  Tuning tuning;
  std::error_code error;
  std::vector<fs::path> tables;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") tables.push_back(at->path());
  std::sort(tables.begin(), tables.end());
  for (const fs::path& file : tables) try {
      const Found found = read_table(file, gpu, software);
      tuning.constants_.insert(tuning.constants_.end(), found.begin(), found.end());
      tuning.files_.push_back(file);
    } catch (const std::exception& wrong) {
      tuning.problems_.push_back(file.string() + " is not used: " + wrong.what() +
                                 ". `ridge tune " + file.stem().string() +
                                 " --again` makes a new one.");
    }
  std::sort(tuning.constants_.begin(), tuning.constants_.end());
  return tuning;
}

const Constants* Tuning::find(TuningKey key) const {
  const auto at = std::lower_bound(constants_.begin(), constants_.end(), key,
                                   [](const auto& one, TuningKey k) { return one.first < k; });
  return at != constants_.end() && at->first == key ? &at->second : nullptr;
}

}  // namespace ridge
