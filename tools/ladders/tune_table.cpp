#include "tune_table.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "select/tuning.h"

namespace ridge::ladders {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json sample_json(const TuneSample& sample) {
  const Terms& terms = sample.timed.terms;
  return {{"rung", sample.rung},           {"variant", sample.variant},
          {"case", sample.case_text},      {"us", sample.timed.us},
          {"counts", terms.counts},        {"memory_us", terms.memory_us},
          {"besides_us", terms.besides_us}};
}

TuneSample sample_in(const json& in) {
  return {.rung = in.at("rung"),
          .variant = in.at("variant"),
          .case_text = in.at("case"),
          .timed = {.terms = {.counts = in.at("counts").get<Constants>(),
                              .memory_us = in.at("memory_us"),
                              .besides_us = in.at("besides_us")},
                    .us = in.at("us")}};
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now))};
}

std::string in_words(const std::string& gpu, bool software) {
  return gpu + (software ? " (software GPU)" : "");
}

}  // namespace

Status TuneTable::read() {
  std::ifstream in(file_);
  if (!in) return Status::ok();
  const auto refused = [&](const std::string& why) {
    return Status(Error{
        2, file_ + ": " + why + ". Name another file with --out, or start anew with --again."});
  };
  try {
    const json table = json::parse(in);
    if (table.at("schema") != kTuningSchema)
      return refused("its schema is not " + std::to_string(kTuningSchema));
    if (table.at("family") != family_)
      return refused("it is of the family " + table.at("family").get<std::string>());
    if (table.at("gpu") != gpu_ || table.at("software") != software_)
      return refused("it was made on " + in_words(table.at("gpu"), table.at("software")) +
                     ", and this is " + in_words(gpu_, software_));
    for (const json& sample : table.at("samples")) add(sample_in(sample));
  } catch (const json::exception& wrong) {
    return refused(std::string("it is no table: ") + wrong.what());
  }
  return Status::ok();
}

bool TuneTable::has(const std::string& rung, const std::string& variant,
                    const std::string& case_text) const {
  return known_.count({rung, variant, case_text}) > 0;
}

void TuneTable::add(TuneSample sample) {
  if (known_.insert({sample.rung, sample.variant, sample.case_text}).second)
    samples_.push_back(std::move(sample));
}

void TuneTable::forget(const std::string& rung, const std::string& variant) {
  std::erase_if(samples_,
                [&](const TuneSample& s) { return s.rung == rung && s.variant == variant; });
  std::erase_if(known_, [&](const Key& key) {
    return std::get<0>(key) == rung && std::get<1>(key) == variant;
  });
}

std::vector<TunedAnswer> TuneTable::fitted() const {
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<harness::TimedTerms>> of;
  for (const TuneSample& sample : samples_) {
    auto& timed = of[{sample.rung, sample.variant}];
    if (timed.empty()) order.emplace_back(sample.rung, sample.variant);
    timed.push_back(sample.timed);
  }
  std::vector<TunedAnswer> all;
  for (const auto& name : order) {
    TunedAnswer answer = {.rung = name.first, .variant = name.second};
    answer.samples = int64_t(of[name].size());
    if (const auto found = harness::fit(of[name])) {
      answer.constants.assign(found->constants.begin(), found->constants.end());
      answer.median_error = found->median_error;
      answer.p90_error = found->p90_error;
    }
    all.push_back(std::move(answer));
  }
  return all;
}

Status TuneTable::write() const {
  json table = {{"schema", kTuningSchema}, {"family", family_},       {"gpu", gpu_},
                {"software", software_},   {"date", today()},         {"seed", seed_},
                {"rungs", json::object()}, {"samples", json::array()}};
  for (const TunedAnswer& tuned : fitted())
    if (!tuned.constants.empty())
      table["rungs"][tuned.rung][tuned.variant] = {{"constants", tuned.constants},
                                                   {"samples", tuned.samples},
                                                   {"median_error", tuned.median_error},
                                                   {"p90_error", tuned.p90_error}};
  for (const TuneSample& sample : samples_) table["samples"].push_back(sample_json(sample));
  std::error_code error;
  if (const fs::path folder = fs::path(file_).parent_path(); !folder.empty())
    fs::create_directories(folder, error);
  const std::string draft = file_ + "." + std::to_string(getpid());
  std::ofstream out(draft);
  out << table.dump(1) << "\n";
  out.close();
  if (out) fs::rename(draft, file_, error);
  if (out && !error) return Status::ok();
  std::error_code ignored;
  fs::remove(draft, ignored);
  return Error{2, "cannot write " + file_ + (error ? ": " + error.message() : "")};
}

}  // namespace ridge::ladders
