#include "record.h"

#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <sstream>

#include "bound.h"

namespace ridge::golden {
namespace {

using vm::Type;

int stored_bytes(Type type) { return type == Type::pred ? 1 : std::max(2, vm::size_of(type)); }

std::string hex(uint64_t value, int digits) {
  char text[20];
  std::snprintf(text, sizeof text, "%0*" PRIx64, digits, value);
  return text;
}

}  // namespace

uint64_t hash_of(const std::vector<uint64_t>& words) {
  uint64_t h = 0xcbf29ce484222325u;
  for (uint64_t w : words) {
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

std::vector<size_t> sampled(size_t n) {
  std::vector<size_t> threads;
  constexpr size_t kFirst = 96, kRest = 96;
  for (size_t i = 0; i < std::min(n, kFirst); ++i) threads.push_back(i);
  const size_t step = std::max<size_t>(1, n / kRest);
  for (size_t i = kFirst; i < n; i += step) threads.push_back(i);
  return threads;
}

Entry entry_of(const Case& c, const Result& result) {
  Entry e;
  if (result.kind != Result::Kind::ok) {
    e.kind = Entry::Kind::refused;
  } else if (bound_of(c.spelling).approximate()) {
    e.kind = Entry::Kind::bounded;
    for (size_t t : sampled(size_t(result.threads))) e.samples.push_back(result.words[t]);
  } else {
    e.hash = hash_of(result.words);
  }
  return e;
}

bool write_record(const std::string& path, const std::string& device,
                  const std::vector<Case>& cases,
                  const std::vector<std::optional<Entry>>& entries) {
  std::ofstream out(path);
  out << "golden " << kInputsVersion << "\t" << device << "\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!entries[i]) continue;
    const Entry& e = *entries[i];
    out << cases[i].spelling << "\t";
    if (e.kind == Entry::Kind::refused) {
      out << "refused";
    } else if (e.kind == Entry::Kind::exact) {
      out << hex(e.hash, 16);
    } else {
      const int digits = 2 * stored_bytes(cases[i].outputs()[0]);
      out << "bounded\t";
      for (uint64_t s : e.samples) out << hex(s, digits);
    }
    out << "\n";
  }
  return bool(out.flush());
}

std::optional<Record> read_record(const std::string& path, std::string* error) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line)) {
    *error = "cannot read " + path;
    return std::nullopt;
  }
  const std::string version = "golden " + std::to_string(kInputsVersion) + "\t";
  if (!line.starts_with(version)) {
    *error = path + ": recorded with other inputs; record it again";
    return std::nullopt;
  }
  Record record;
  record.device = line.substr(version.size());
  for (int number = 2; std::getline(in, line); ++number) {
    std::istringstream fields(line);
    std::string spelling, value, samples;
    if (!std::getline(fields, spelling, '\t') || !std::getline(fields, value, '\t')) {
      *error = path + ":" + std::to_string(number) + ": not a result";
      return std::nullopt;
    }
    Entry e;
    if (value == "refused") {
      e.kind = Entry::Kind::refused;
    } else if (value == "bounded") {
      e.kind = Entry::Kind::bounded;
      std::getline(fields, samples, '\t');
      const std::string type = spelling.substr(spelling.rfind('.') + 1);
      const size_t digits = 2 * size_t(stored_bytes(*vm::type_from_name(type)));
      for (size_t at = 0; at + digits <= samples.size(); at += digits)
        e.samples.push_back(std::stoull(samples.substr(at, digits), nullptr, 16));
    } else {
      e.hash = std::stoull(value, nullptr, 16);
    }
    record.entries[spelling] = std::move(e);
  }
  return record;
}

void RawWriter::add(const Case& c, const Result& result) {
  const auto types = c.outputs();
  const size_t threads = size_t(result.threads);
  std::string data;
  for (size_t k = 0; k < types.size(); ++k)
    for (size_t t = 0; t < threads; ++t)
      data.append(reinterpret_cast<const char*>(&result.words[k * threads + t]),
                  size_t(stored_bytes(types[k])));
  const uint32_t head[] = {uint32_t(c.spelling.size()), uint32_t(types.size()), uint32_t(threads),
                           uint32_t(data.size())};
  const std::string all =
      std::string(reinterpret_cast<const char*>(head), sizeof head) + c.spelling + data;
  good_ = good_ && std::fwrite(all.data(), 1, all.size(), file_) == all.size();
}
bool RawWriter::close() {
  if (file_) good_ = std::fclose(file_) == 0 && good_;
  file_ = nullptr;
  return good_;
}

std::optional<RawResults> read_raw(const std::string& path, const std::vector<Case>& cases) {
  std::map<std::string, const Case*> by_spelling;
  for (const Case& c : cases) by_spelling[c.spelling] = &c;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  RawResults results;
  uint32_t head[4];  // bytes of the name, outputs, threads, bytes of data
  while (in.read(reinterpret_cast<char*>(head), sizeof head)) {
    std::string spelling(head[0], '\0');
    in.read(spelling.data(), head[0]);
    const auto found = by_spelling.find(spelling);
    if (found == by_spelling.end() || found->second->outputs().size() != head[1]) {
      in.ignore(head[3]);
      continue;
    }
    std::vector<uint64_t> words(size_t(head[1]) * head[2]);
    const auto types = found->second->outputs();
    for (size_t k = 0; k < types.size(); ++k)
      for (size_t t = 0; t < head[2]; ++t)
        in.read(reinterpret_cast<char*>(&words[k * head[2] + t]), stored_bytes(types[k]));
    results[spelling] = std::move(words);
  }
  return results;
}

}  // namespace ridge::golden
