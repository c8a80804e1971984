#include "trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "verb.h"

namespace ridge::tools {
namespace {

void put(int file, const char* text) {
  [[maybe_unused]] const ssize_t written = write(file, text, std::strlen(text));
}

}  // namespace

Status TraceFile::open(const std::string& path) {
  path_ = std::filesystem::absolute(path);
  std::error_code error;
  created_ = !std::filesystem::exists(path_, error);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat facts = {};
  if (file_ < 0 || fstat(file_, &facts) != 0)
    return Error{kMissing, fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  if (!S_ISREG(facts.st_mode))
    return Error{kMissing, fmt::format("cannot write {}: it is no ordinary file", path)};
  return Status::ok();
}

TraceFile::~TraceFile() {
  if (file_ < 0) return;
  close(file_);
  if (created_ && !begun_) unlink(path_.c_str());
}

void TraceFile::begin() {
  if (file_ < 0) return;
  begun_ = true;
  if (ftruncate(file_, 0) == 0) put(file_, "[\n");
}

// A program that was ended while it wrote leaves half a line, and a whole one ends in a comma.
size_t TraceFile::finish() {
  std::ifstream in(path_, std::ios::binary);
  size_t events = 0, end = 0, at = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    at += line.size() + 1;
    if (line.starts_with(R"({"ph":"X",)")) ++events;
    if (line.ends_with("},")) end = at - 2;
    else if (line == "[") end = at - 1;
  }
  if (ftruncate(file_, off_t(end)) == 0) put(file_, "\n]\n");
  return events;
}

}  // namespace ridge::tools
