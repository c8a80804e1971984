#include "protocol.h"

#include <concepts>
#include <cstdlib>

namespace ridge::ladders {

using nlohmann::json;

namespace {

// --- requests: each flag and each command is named here, for both directions ---

constexpr std::pair<const char*, Command> kCommands[] = {
    {"list", Command::list},     {"verify", Command::verify}, {"measure", Command::measure},
    {"choose", Command::choose}, {"launch", Command::launch}, {"export", Command::export_case},
    {"tune", Command::tune}};

struct Flag {
  const char* name;
  std::variant<bool Request::*, std::string Request::*, uint64_t Request::*,
               std::vector<std::string> Request::*, Request::Settings Request::*>
      field;
};
constexpr Flag kFlags[] = {{"--shape", &Request::shape},
                           {"--dtype", &Request::dtypes},
                           {"--size", &Request::sizes},
                           {"--set", &Request::values},
                           {"--distribution", &Request::distribution},
                           {"--with", &Request::with},
                           {"--transposed", &Request::transposed},
                           {"--seed", &Request::seed},
                           {"--rung", &Request::rung},
                           {"--hot", &Request::hot},
                           {"--variants", &Request::variants},
                           {"--tour", &Request::tour},
                           {"--small", &Request::small},
                           {"--fast", &Request::fast},
                           {"--known-roofs", &Request::known_roofs},
                           {"--rivals", &Request::rivals},
                           {"--instructions", &Request::instructions},
                           {"--predicted", &Request::predicted},
                           {"--unverified", &Request::unverified},
                           {"--random", &Request::random},
                           {"--folder", &Request::folder},
                           {"--table", &Request::table},
                           {"--shapes", &Request::shapes},
                           {"--again", &Request::again}};

// A field's values as words, one per flag, and the word of one flag into the field.
std::vector<std::string> words_in(bool value) {
  return value ? std::vector<std::string>{""} : std::vector<std::string>();
}
std::vector<std::string> words_in(const std::string& value) {
  return value.empty() ? std::vector<std::string>() : std::vector{value};
}
std::vector<std::string> words_in(uint64_t value) { return {std::to_string(value)}; }
std::vector<std::string> words_in(const std::vector<std::string>& values) { return values; }
std::vector<std::string> words_in(const Request::Settings& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values) words.push_back(name + "=" + value);
  return words;
}

Status take(bool& field, const std::string&) {
  field = true;
  return Status::ok();
}
Status take(std::string& field, const std::string& word) {
  field = word;
  return Status::ok();
}
Status take(uint64_t& field, const std::string& word) {
  field = std::strtoull(word.c_str(), nullptr, 10);
  return Status::ok();
}
Status take(std::vector<std::string>& field, const std::string& word) {
  field.push_back(word);
  return Status::ok();
}
Status take(Request::Settings& field, const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == word.npos || equals == 0)
    return Error{2, "NAME=VALUE is wanted, not '" + word + "'"};
  field.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  return Status::ok();
}

bool wants_word(const Flag& flag) { return !std::holds_alternative<bool Request::*>(flag.field); }

// --- answers: each field is named in one `fields`, which a Writer and a Reader go through ---

class Writer {
 public:
  explicit Writer(json& out) : out_(out) {}
  template <class T>
  void operator()(const char* name, const T& value) {
    out_[name] = value;
  }
  // What is as it is by default is left out.
  template <class T>
  void some(const char* name, const T& value) {
    if (!(value == T())) out_[name] = value;
  }
  template <class T>
  void some(const char* name, const std::optional<T>& value) {
    if (value) out_[name] = *value;
  }

 private:
  json& out_;
};

class Reader {
 public:
  explicit Reader(const json& in) : in_(in) {}
  template <class T>
  void operator()(const char* name, T& value) {
    if (const auto found = in_.find(name); found != in_.end()) found->get_to(value);
  }
  template <class T>
  void some(const char* name, T& value) {
    (*this)(name, value);
  }
  template <class T>
  void some(const char* name, std::optional<T>& value) {
    if (const auto found = in_.find(name); found != in_.end()) value = found->get<T>();
  }

 private:
  const json& in_;
};

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

template <class Io, Is<Asked> T>
void fields(Io& io, T& asked) {
  io.some("formats", asked.formats);
  io.some("parameters", asked.parameters);
  io.some("distribution", asked.distribution);
  io.some("with", asked.with);
  io.some("transposed", asked.transposed);
  io.some("same", asked.same);
}

template <class Io, Is<CaseAnswer> T>
void fields(Io& io, T& c) {
  io("operator", c.operator_);
  io.some("family", c.family);
  io("dtype", c.dtype);
  io("shape", c.shape);
  io.some("settings", c.settings);
  fields(io, c.asked);
  io("unit", c.unit);
  io("seed", c.seed);
  io("read", c.read);
  io("written", c.written);
  io("flops", c.flops);
  io.some("arithmetic", c.arithmetic);
  io.some("to_device", c.to_device);
  io.some("to_host", c.to_host);
  io.some("verified_at", c.verified_at);
  io.some("verified_by", c.verified_by);
  io.some("samples", c.samples);
  io.some("library_only", c.library_only);
}

template <class Io, Is<Step> T>
void fields(Io& io, T& step) {
  io("name", step.name);
  io.some("idea", step.idea);
  io.some("rival", step.rival);
  io.some("wrong", step.wrong);
  io.some("unsupported", step.unsupported);
  io.some("failed", step.failed);
  io.some("us", step.us);
  io.some("beside", step.beside);
  io.some("beside_us", step.beside_us);
  io.some("by_graph", step.by_graph);
  io.some("implausible_under_us", step.implausible_under);
  io.some("warp_instructions", step.warp_instructions);
  io.some("thread_instructions", step.thread_instructions);
  io.some("modelled_us", step.modelled_us);
  io.some("modelled_low_us", step.modelled_low_us);
  io.some("modelled_high_us", step.modelled_high_us);
  io.some("bound", step.bound);
  io.some("why", step.why);
}

template <class Io, Is<StepAnswer> T>
void fields(Io& io, T& answer) {
  io("stage", answer.stage);
  fields(io, answer.step);
}

template <class Io, Is<RoofsAnswer> T>
void fields(Io& io, T& roofs) {
  io("copy", roofs.copy);
  io("read", roofs.read);
  io("write", roofs.write);
  io("pins", roofs.pins);
  io.some("operations", roofs.operations);
  io.some("unchecked", roofs.unchecked);
  io("weather", roofs.weather);
}

template <class Io, Is<MemoryAnswer> T>
void fields(Io& io, T& memory) {
  io("by", memory.by);
  io("us", memory.us);
}

template <class Io, Is<RivalsAnswer> T>
void fields(Io& io, T& rivals) {
  io("missing", rivals.missing);
  io("why", rivals.why);
}

template <class Io, Is<CandidateRung> T>
void fields(Io& io, T& candidate) {
  io("rung", candidate.rung);
  io("idea", candidate.idea);
  io.some("rejected", candidate.rejected);
  io.some("lesson", candidate.lesson);
  io.some("predicted_us", candidate.predicted_us);
  io.some("modelled_us", candidate.modelled_us);
}

template <class Io, Is<ChoiceAnswer> T>
void fields(Io& io, T& choice) {
  fields(io, choice.of_case);
  io("bytes", choice.bytes);
  io("floor_us", choice.floor_us);
  io("launches", choice.launches);
  io("chosen", choice.chosen);
  io.some("handed_to", choice.handed_to);
  io("study", choice.study);
  io("candidates", choice.candidates);
  io.some("tuned_by", choice.tuned_by);
  io.some("bad_tables", choice.bad_tables);
}

template <class Io, Is<LaunchAnswer> T>
void fields(Io& io, T& launch) {
  fields(io, launch.of_case);
  io("rung", launch.rung);
  io("elements", launch.elements);
}

template <class Io, Is<TuneAnswer> T>
void fields(Io& io, T& tune) {
  io("file", tune.file);
  io.some("now", tune.now);
  io("candidates", tune.candidates);
  io("known", tune.known);
  io("measured", tune.measured);
}

template <class Io, Is<TunedAnswer> T>
void fields(Io& io, T& tuned) {
  io("rung", tuned.rung);
  io("variant", tuned.variant);
  io("samples", tuned.samples);
  io.some("constants", tuned.constants);
  io("median_error", tuned.median_error);
  io("p90_error", tuned.p90_error);
}

template <class Io, Is<RungListed> T>
void fields(Io& io, T& rung) {
  io("name", rung.name);
  io("idea", rung.idea);
  io.some("claims", rung.claims);
}

template <class Io, Is<FamilyAnswer> T>
void fields(Io& io, T& family) {
  io("family", family.family);
  io("operators", family.operators);
  io("rungs", family.rungs);
  io("rivals", family.rivals);
  io.some("summary", family.summary);
  io.some("tests", family.tests);
}

template <class Io, Is<Failure> T>
void fields(Io& io, T& failure) {
  io("error", failure.message);
  io("code", failure.code);
}

template <class T>
void write(json& out, const T& value) {
  out = json::object();
  Writer writer(out);
  fields(writer, value);
}
template <class T>
void read(const json& in, T& value) {
  Reader reader(in);
  fields(reader, value);
}

// What a line is, in the order of Answer.
constexpr const char* kEvent = "event";
constexpr const char* kEvents[] = {"failure", "family", "roofs",  "rivals", "case", "step",
                                   "memory",  "choice", "launch", "tune",   "tuned"};
static_assert(std::size(kEvents) == std::variant_size_v<Answer>);

template <size_t kIndex = 0>
std::optional<Answer> answer_of(const std::string& event, const json& in) {
  if constexpr (kIndex < std::variant_size_v<Answer>) {
    if (event != kEvents[kIndex]) return answer_of<kIndex + 1>(event, in);
    std::variant_alternative_t<kIndex, Answer> answer;
    read(in, answer);
    return answer;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> words_of(const Request& request) {
  std::vector<std::string> words;
  for (const auto& [name, command] : kCommands)
    if (command == request.command) words.push_back(name);
  words.insert(words.end(), request.operators.begin(), request.operators.end());
  for (const Flag& flag : kFlags)
    std::visit(
        [&](auto field) {
          for (const std::string& word : words_in(request.*field)) {
            words.push_back(flag.name);
            if (wants_word(flag)) words.push_back(word);
          }
        },
        flag.field);
  return words;
}

Expected<Request> read_request(const std::vector<std::string>& words) {
  Request request;
  bool is_command = false;
  for (const auto& [name, command] : kCommands)
    if (!words.empty() && words.front() == name) request.command = command, is_command = true;
  if (!is_command) {
    std::string known;
    for (const auto& [name, command] : kCommands)
      known += (known.empty() ? "" : "|") + std::string(name);
    return Error{2, "usage: ridge_ladders " + known + " [operator…] [options]"};
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      request.operators.push_back(word);
      continue;
    }
    const Flag* flag = nullptr;
    for (const Flag& known : kFlags)
      if (word == known.name) flag = &known;
    if (!flag) return Error{2, "unknown option " + word};
    if (wants_word(*flag) && ++i == words.size()) return Error{2, word + " wants a value"};
    const Status taken =
        std::visit([&](auto field) { return take(request.*field, words[i]); }, flag->field);
    if (!taken) return Error{2, word + ": " + taken.message()};
  }
  return request;
}

std::string line_of(const Answer& answer) {
  json out;
  std::visit([&](const auto& value) { write(out, value); }, answer);
  out[kEvent] = kEvents[answer.index()];
  return out.dump();
}

std::optional<Answer> read_answer(const std::string& line) {
  const json in = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!in.is_object() || !in.contains(kEvent)) return std::nullopt;
  try {
    return answer_of(in[kEvent].get<std::string>(), in);
  } catch (const json::exception&) {  // a field has another type: a program printed this line
    return std::nullopt;
  }
}

void to_json(json& out, const Asked& asked) { write(out, asked); }
void from_json(const json& in, Asked& asked) { read(in, asked); }
void to_json(json& out, const CaseAnswer& c) { write(out, c); }
void from_json(const json& in, CaseAnswer& c) { read(in, c); }
void to_json(json& out, const Step& step) { write(out, step); }
void from_json(const json& in, Step& step) { read(in, step); }
void to_json(json& out, const RoofsAnswer& roofs) { write(out, roofs); }
void from_json(const json& in, RoofsAnswer& roofs) { read(in, roofs); }
void to_json(json& out, const MemoryAnswer& memory) { write(out, memory); }
void from_json(const json& in, MemoryAnswer& memory) { read(in, memory); }
void to_json(json& out, const ChoiceAnswer& choice) { write(out, choice); }
void to_json(json& out, const CandidateRung& candidate) { write(out, candidate); }
void from_json(const json& in, CandidateRung& candidate) { read(in, candidate); }
void to_json(json& out, const TunedAnswer& tuned) { write(out, tuned); }
void to_json(json& out, const RungListed& rung) { write(out, rung); }
void from_json(const json& in, RungListed& rung) { read(in, rung); }

}  // namespace ridge::ladders
