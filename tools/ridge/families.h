// The families of kernels, built as they are needed. In a source tree the script ./ridge builds
// them; an installed tree has those it was installed with.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/status.h"
#include "terminal.h"

namespace ridge::tools {

// Builds one family and waits for it. An error says that it does not build.
Status need_family(const std::string& family, bool quiet);

// The same for Ridge's cuBLAS and the families that it calls.
Status need_cublas(bool quiet);

// Builds several in the background and hands them out in the order in which they get ready.
class FamilyBuilder {
 public:
  explicit FamilyBuilder(std::vector<std::string> families);
  ~FamilyBuilder();
  FamilyBuilder(const FamilyBuilder&) = delete;
  FamilyBuilder& operator=(const FamilyBuilder&) = delete;

  struct Built {
    std::string family;
    bool ready = false;  // false: it does not build
  };
  // Waits for the next one; `waiting` is called now and then with what is being built. False: all
  // have been handed out.
  bool next(Built& built, const std::function<void(const std::string& step)>& waiting);

 private:
  void hear(const std::string& line);
  std::thread worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Built> done_;
  std::vector<std::string> heard_;  // families that are done, handed out or not
  std::string step_;
  size_t left_ = 0;
};

}  // namespace ridge::tools
