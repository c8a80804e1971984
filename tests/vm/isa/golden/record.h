// Recorded results: a text file for CI (a hash for an exact spelling, sampled values for an
// approximate one), and a binary one with every output, to find the inputs where two devices
// differ.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "case.h"
#include "device.h"

namespace ridge::golden {

struct Entry {
  enum class Kind { exact, bounded, refused };
  Kind kind = Kind::exact;
  uint64_t hash = 0;
  std::vector<uint64_t> samples;  // bounded: of the threads sampled() names
};

uint64_t hash_of(const std::vector<uint64_t>& words);
// Which threads a bounded entry keeps, of n: the edge values first.
std::vector<size_t> sampled(size_t n);

Entry entry_of(const Case& c, const Result& result);

// One line per spelling, sorted as the tables are.
bool write_record(const std::string& path, const std::string& device,
                  const std::vector<Case>& cases, const std::vector<std::optional<Entry>>& entries);
struct Record {
  std::string device;
  std::map<std::string, Entry> entries;
};
std::optional<Record> read_record(const std::string& path, std::string* error);

// Raw: per spelling the sizes, its name, then each output word in as many bytes as its type has.
class RawWriter {
 public:
  explicit RawWriter(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {}
  ~RawWriter() { close(); }
  bool ok() const { return file_ != nullptr; }
  void add(const Case& c, const Result& result);
  bool close();

 private:
  std::FILE* file_;
  bool good_ = true;
};
using RawResults = std::map<std::string, std::vector<uint64_t>>;  // (outputs, threads)
std::optional<RawResults> read_raw(const std::string& path, const std::vector<Case>& cases);

}  // namespace ridge::golden
