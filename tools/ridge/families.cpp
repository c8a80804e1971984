#include "families.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "process.h"
#include "verb.h"

namespace ridge::tools {
namespace {

// The script that started us, which knows how to build; none: an installed tree.
const char* script() { return std::getenv("RIDGE_SCRIPT"); }

Command build_command(const std::vector<std::string>& families) {
  const char* const preset = std::getenv("RIDGE_PRESET");
  Command command = {.program = script(),
                     .arguments = {"--preset", preset ? preset : "vm", "need"}};
  command.arguments.insert(command.arguments.end(), families.begin(), families.end());
  return command;
}

// Words behind "step 12 40 ".
std::string step_text(const std::string& line) {
  const size_t first = line.find(' '), second = line.find(' ', first + 1),
               third = line.find(' ', second + 1);
  if (third == line.npos) return "";
  return fmt::format("building {}/{} {}", line.substr(first + 1, second - first - 1),
                     line.substr(second + 1, third - second - 1), line.substr(third + 1));
}

// `what` stands in the error: "the kernels of softmax".
Status need(const std::string& name, const std::string& what, bool quiet) {
  if (!script()) return Status::ok();
  Progress progress(quiet);
  bool failed = false;
  Command command = build_command({name});
  command.line = [&](const std::string& line) {
    if (line.starts_with("step ")) progress.show(step_text(line));
    failed = failed || line.starts_with("failed ");
  };
  const Outcome outcome = run(command);
  progress.clear();
  if (outcome.ok() && !failed) return Status::ok();
  if (outcome.signal != 0) return Error{kInterrupted, "interrupted"};
  return Error{kDoesNotCompile, fmt::format("{} do not build", what)};
}

}  // namespace

Status need_family(const std::string& family, bool quiet) {
  return need(family, "the kernels of " + family, quiet);
}

Status need_cublas(bool quiet) {
  return need("cublas", "Ridge's cuBLAS and the kernels that it calls", quiet);
}

FamilyBuilder::FamilyBuilder(std::vector<std::string> families) {
  left_ = families.size();
  if (!script()) {
    for (std::string& family : families) done_.push_back({std::move(family), true});
    return;
  }
  worker_ = std::thread([this, families = std::move(families)] {
    Command command = build_command(families);
    command.line = [this](const std::string& line) { hear(line); };
    (void)run(command);
    // What it never spoke of, because it was ended, is not coming.
    const std::lock_guard lock(mutex_);
    for (const std::string& family : families)
      if (std::ranges::count(heard_, family) == 0) done_.push_back({family, false});
    changed_.notify_all();
  });
}

FamilyBuilder::~FamilyBuilder() {
  if (worker_.joinable()) worker_.join();
}

void FamilyBuilder::hear(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (line.starts_with("step ")) step_ = step_text(line);
  const bool ready = line.starts_with("ready ");
  if (ready || line.starts_with("failed ")) {
    heard_.push_back(line.substr(line.find(' ') + 1));
    done_.push_back({heard_.back(), ready});
  }
  changed_.notify_all();
}

bool FamilyBuilder::next(Built& built, const std::function<void(const std::string&)>& waiting) {
  std::unique_lock lock(mutex_);
  if (left_ == 0) return false;
  while (done_.empty()) {
    changed_.wait_for(lock, std::chrono::milliseconds(200));
    if (!done_.empty()) break;
    const std::string step = step_;
    lock.unlock();
    waiting(step);
    lock.lock();
  }
  built = done_.front();
  done_.pop_front();
  --left_;
  return true;
}

}  // namespace ridge::tools
