#include "vm/check/finding.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace ridge::vm::check {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

void write(std::FILE* out, const char* key, const Party& party, const SiteInfo& info) {
  if (!party.site && party.who.empty()) return;
  std::fprintf(out, ", \"%s\": {\"act\": %s, \"who\": %s", key, in_quotes(party.act).c_str(),
               in_quotes(party.who).c_str());
  if (party.site) {
    if (!info.file.empty())
      std::fprintf(out, ", \"file\": %s, \"line\": %u", in_quotes(info.file).c_str(), info.line);
    if (!info.inside.empty()) std::fprintf(out, ", \"inside\": %s", in_quotes(info.inside).c_str());
    std::fprintf(out, ", \"ptx_line\": %u, \"ptx\": %s", info.ptx_line,
                 in_quotes(info.mnemonic).c_str());
  }
  std::fprintf(out, "}");
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : name;
  std::free(text);
  return result;
}

bool Findings::is_new(const char* kind, uint32_t first_site, uint32_t second_site) {
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[{kind, first_site, second_site}];
  if (++seen.count > 1) return false;
  seen.id = next_id_++;
  order_.push_back(&seen);
  return true;
}

void Findings::add(const Finding& f) {
  const SiteInfo first = sites_.info(f.first.site), second = sites_.info(f.second.site);
  const std::lock_guard lock(mutex_);
  const auto known = seen_.find({f.kind, f.first.site, f.second.site});
  std::fprintf(out_, "{\"id\": %llu, \"kind\": %s, \"space\": %s, \"kernel\": %s",
               static_cast<unsigned long long>(known == seen_.end() ? 0 : known->second.id),
               in_quotes(f.kind).c_str(), in_quotes(f.space).c_str(), in_quotes(f.kernel).c_str());
  write(out_, "first", f.first, first);
  write(out_, "second", f.second, second);
  if (f.line) std::fprintf(out_, ", \"file\": %s, \"line\": %u", in_quotes(f.file).c_str(), f.line);
  if (f.other_line) std::fprintf(out_, ", \"other_line\": %u", f.other_line);
  if (f.bytes)
    std::fprintf(out_, ", \"address\": \"0x%llx\"", static_cast<unsigned long long>(f.address));
  if (f.bytes) std::fprintf(out_, ", \"bytes\": %u", f.bytes);
  if (f.draft) std::fprintf(out_, ", \"draft\": true");
  if (f.count) std::fprintf(out_, ", \"count\": %llu", static_cast<unsigned long long>(f.count));
  if (!f.scope.empty()) std::fprintf(out_, ", \"scope\": %s", in_quotes(f.scope).c_str());
  if (!f.fix_kind.empty()) std::fprintf(out_, ", \"fix_kind\": %s", in_quotes(f.fix_kind).c_str());
  for (size_t k = 0; k < f.edits.size(); ++k)
    std::fprintf(out_, "%s{\"file\": %s, \"line\": %u, \"from\": %s, \"to\": %s}%s",
                 k ? ", " : ", \"edits\": [", in_quotes(f.edits[k].file).c_str(), f.edits[k].line,
                 in_quotes(f.edits[k].from).c_str(), in_quotes(f.edits[k].to).c_str(),
                 k + 1 == f.edits.size() ? "]" : "");
  std::fprintf(out_, ", \"memory\": %s, \"what\": %s, \"fix\": %s}\n", in_quotes(f.memory).c_str(),
               in_quotes(f.what).c_str(), in_quotes(f.fix).c_str());
  std::fflush(out_);
}

void Findings::drop_drafts() {
  const std::lock_guard lock(mutex_);
  std::fprintf(out_, "{\"drafts\": \"end\"}\n");
}

void Findings::finish(uint64_t launches) {
  const std::lock_guard lock(mutex_);
  for (const Seen* seen : order_)
    std::fprintf(out_, "{\"count\": %llu, \"of\": %llu}\n",
                 static_cast<unsigned long long>(seen->count),
                 static_cast<unsigned long long>(seen->id));
  std::fprintf(out_, "{\"finished\": true, \"launches\": %llu}\n",
               static_cast<unsigned long long>(launches));
  std::fflush(out_);
}

}  // namespace ridge::vm::check
