// The file that `ridge run --trace` asked for. The device appends one event per line to it. We
// write its first and last line, so that the file is complete however the program ends.
#pragma once

#include <cstddef>
#include <string>

#include "core/status.h"

namespace ridge::tools {

class TraceFile {
 public:
  TraceFile() = default;
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  Status open(const std::string& path);              // leaves what is in it, until `begin`
  const std::string& path() const { return path_; }  // absolute
  void begin();
  size_t finish();  // how many events there are

 private:
  std::string path_;
  int file_ = -1;
  bool created_ = false, begun_ = false;
};

}  // namespace ridge::tools
