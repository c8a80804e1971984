// Random programs, run here and held against what a GPU made of them:
//
//   differential record FILE [--count N] [--jobs N]   run seeds 0 … N-1, write a hash each
//   differential check FILE [--known FILE] [--first N] [--count N] [--jobs N]
//   differential print SEED [MASK]                    the program's PTX
//   differential nodes SEED                           how many statements it has
//   differential run SEED [MASK]                      its hash
//   differential dump SEED MASK FILE                  its whole result
//   differential keep SEED MASK                       its PTX, headed by this device's result
//   differential kept FILE…                           whether such files give what their heads say
//   differential serve                                "SEED MASK" lines in, hashes out
//   (minimise.py)
//
// --level N: the optimisation level that the driver's compiler is asked for.
//
// FILE: a line about the device, one with a hash over the first programs' texts, so that a changed
// generator is not mistaken for a changed result, and eight hexadecimal digits per program. The
// seeds in a file of known ones are expected to differ, for the reason that stands there.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "program.h"
#include "run.h"

using namespace ridge::differential;

namespace {

constexpr size_t kPerLine = 12;

uint32_t generator_hash() {
  std::vector<uint8_t> all;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string ptx = text(generate(seed), {});
    all.insert(all.end(), ptx.begin(), ptx.end());
  }
  const std::vector<uint8_t> input = input_bytes();
  all.insert(all.end(), input.begin(), input.end());
  return hash(all);
}

struct Record {
  std::string device;
  uint32_t generator = 0;
  std::vector<uint32_t> hashes;
};

bool read_record(const std::string& path, Record& record) {
  std::ifstream in(path);
  std::string word;
  if (!std::getline(in, record.device) || !(in >> word >> word)) return false;
  record.generator = uint32_t(std::stoul(word, nullptr, 16));
  while (in >> word) record.hashes.push_back(uint32_t(std::stoul(word, nullptr, 16)));
  return !record.hashes.empty();
}

bool write_record(const std::string& path, const Record& record) {
  std::ofstream out(path);
  char word[16];
  std::snprintf(word, sizeof word, "%08x", record.generator);
  out << record.device << "\ngenerator " << word << "\n";
  for (size_t i = 0; i < record.hashes.size(); ++i) {
    std::snprintf(word, sizeof word, "%08x", record.hashes[i]);
    out << word << (i % kPerLine == kPerLine - 1 || i + 1 == record.hashes.size() ? "\n" : " ");
  }
  return bool(out.flush());
}

// One seed per line; what follows '#' is for readers.
bool read_known(const std::string& path, std::set<uint64_t>& known) {
  if (path.empty()) return true;
  std::ifstream in(path);
  if (!in) return false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (uint64_t seed; words >> seed;) known.insert(seed);
  }
  return true;
}

std::string complaint(const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::hung) return "does not end";
  if (outcome.kind == Outcome::Kind::failed)
    return outcome.error < 0 ? "ended by signal " + std::to_string(-outcome.error)
                             : "error " + std::to_string(outcome.error);
  return "was not run";
}

int record(const std::string& path, size_t count, unsigned jobs) {
  Record record{device_name(), generator_hash(), {}};
  int failures = 0;
  const std::vector<Outcome> outcomes = run_all(0, count, jobs);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    record.hashes.push_back(outcomes[i].hash);
    if (outcomes[i].kind == Outcome::Kind::ok) continue;
    std::printf("seed %zu %s\n", i, complaint(outcomes[i]).c_str());
    failures++;
  }
  std::printf("%s: %zu programs, %d failed\n", record.device.c_str(), outcomes.size(), failures);
  return write_record(path, record) && failures == 0 ? 0 : 1;
}

int check(const std::string& path, const std::string& known_path, uint64_t first, size_t count,
          unsigned jobs) {
  Record expected;
  std::set<uint64_t> known;
  if (!read_record(path, expected) || !read_known(known_path, known)) {
    std::fprintf(stderr, "%s or %s: cannot be read\n", path.c_str(), known_path.c_str());
    return 2;
  }
  if (expected.generator != generator_hash()) {
    std::fprintf(
        stderr,
        "%s was recorded with another generator: its seeds mean other programs now. Record "
        "again on a GPU: differential record %s\n",
        path.c_str(), path.c_str());
    return 2;
  }
  first = std::min<uint64_t>(first, expected.hashes.size());
  count = std::min(count, expected.hashes.size() - size_t(first));
  const std::vector<Outcome> outcomes = run_all(first, count, jobs);
  int wrong = 0, expected_to = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    const size_t seed = size_t(first) + i;
    const bool ran = o.kind == Outcome::Kind::ok, agrees = ran && o.hash == expected.hashes[seed];
    const bool differs = ran && !agrees;
    if (differs && known.count(seed)) expected_to++;
    if (known.count(seed) ? differs : agrees) continue;
    std::printf("seed %zu %s\n", seed,
                agrees    ? "agrees: it is no longer one of the known ones"
                : differs ? "differs"
                          : complaint(o).c_str());
    wrong++;
  }
  std::printf("%zu programs, %d differ from %s, and %d are known to\n", outcomes.size(), wrong,
              expected.device.c_str(), expected_to);
  return wrong || outcomes.empty() ? 1 : 0;
}

std::string answer(const Job& job) {
  int error;
  const std::vector<uint8_t> bytes = run(job, error);
  if (error) return "error " + std::to_string(error);
  char word[16];
  std::snprintf(word, sizeof word, "%08x", hash(bytes));
  return word;
}

int serve() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    uint64_t seed = 0;
    Mask mask;
    in >> seed >> mask;
    const std::string reply = answer(job(generate(seed), mask));
    std::printf("%s\n", reply.c_str());
    std::fflush(stdout);
    if (reply.starts_with("error")) return 1;  // the context is of no use any more
  }
  return 0;
}

// A program that once failed, independent of the generator: its first line says how it is launched.
void keep(uint64_t seed, const Mask& mask) {
  const Job j = job(generate(seed), mask);
  std::printf("// %s %u %u gives %s\n%s", j.kernel.c_str(), j.blocks, j.threads, answer(j).c_str(),
              j.ptx.c_str());
}

int kept(const std::vector<std::string>& paths) {
  int wrong = 0;
  for (const std::string& path : paths) {
    std::ifstream in(path);
    std::string slashes, gives, expected;
    Job j;
    in >> slashes >> j.kernel >> j.blocks >> j.threads >> gives >> expected;
    j.ptx.assign(std::istreambuf_iterator<char>(in), {});
    const std::string got = in ? answer(j) : "nothing: it cannot be read";
    if (got == expected) continue;
    std::printf("%s: %s, not %s\n", path.c_str(), got.c_str(), expected.c_str());
    wrong++;
  }
  std::printf("%zu programs, %d wrong\n", paths.size(), wrong);
  return wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc), plain;
  uint64_t first = 0;
  size_t count = SIZE_MAX;
  std::string known;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--first" && has_value) first = std::stoull(words[++i]);
    else if (words[i] == "--count" && has_value) count = std::stoull(words[++i]);
    else if (words[i] == "--jobs" && has_value) jobs = unsigned(std::stoul(words[++i]));
    else if (words[i] == "--known" && has_value) known = words[++i];
    else if (words[i] == "--level" && has_value) compile_at(std::stoi(words[++i]));
    else plain.push_back(words[i]);
  }
  const std::string verb = plain.empty() ? "" : plain[0];
  if (verb == "serve") return serve();
  if (verb == "record" && plain.size() == 2)
    return record(plain[1], count == SIZE_MAX ? 10000 : count, jobs);
  if (verb == "check" && plain.size() == 2) return check(plain[1], known, first, count, jobs);
  if (verb == "kept") return kept({plain.begin() + 1, plain.end()});
  if (plain.size() < 2) {
    std::fprintf(stderr,
                 "usage: differential record|check FILE, print|nodes|run SEED [MASK], "
                 "dump SEED MASK FILE, keep SEED MASK, kept FILE..., or serve\n");
    return 2;
  }
  const uint64_t seed = std::stoull(plain[1]);
  const Mask mask = plain.size() > 2 ? plain[2] : "";
  if (verb == "print") std::cout << module_header() << text(generate(seed), mask);
  else if (verb == "nodes") std::cout << generate(seed).nodes << "\n";
  else if (verb == "run") std::cout << answer(job(generate(seed), mask)) << "\n";
  else if (verb == "keep") keep(seed, mask);
  else if (verb == "dump" && plain.size() == 4) {
    int error;
    const std::vector<uint8_t> bytes = run(job(generate(seed), mask), error);
    std::ofstream(plain[3], std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return error;
  } else return 2;
  return 0;
}
