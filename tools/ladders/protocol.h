// What `ridge` asks of ridge_ladders, and what that answers. The two are programs of their own:
// ridge_ladders links the CUDA runtime, so it has to be started anew for each device.
//
// A request is a command line; an answer is a line of JSON. Both are written and read in
// protocol.cpp, the one place where a flag or a field has its name. The structs for a case and a
// step are also those of the records that `ridge climb` keeps (docs/ladders.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.h"

namespace ridge::ladders {

// --- requests ---

enum class Command : uint8_t {
  list,         // what there is; FamilyAnswer
  verify,       // every rung on every test case or on drawn ones, for people to read
  measure,      // verifies, then times or models: RoofsAnswer, RivalsAnswer, then for each case
                // CaseAnswer, StepAnswer and MemoryAnswer
  choose,       // which rung the library takes; ChoiceAnswer
  launch,       // launches rungs once, for whoever watches the device; LaunchAnswer
  export_case,  // writes a case as files, for rivals in Python
  tune,         // times variants and fits their costs: TuneAnswer, StepAnswer, TunedAnswer
};

// As the name of a rung: the one that the library takes for each case.
constexpr const char* kLibrary = "library";

// In place of names of optional tensors: none, where a case would have some.
constexpr const char* kNoneWith = "none";

struct Request {
  using Settings = std::vector<std::pair<std::string, std::string>>;

  Command command = Command::list;
  std::vector<std::string> operators;  // none: all
  std::string shape, rung, distribution;
  std::vector<std::string> dtypes;      // "bf16", or "a=bf16" of one tensor
  std::vector<std::string> with;        // optional tensors
  std::vector<std::string> transposed;  // tensors
  Settings sizes;                       // "rows", "4096"
  Settings values;                      // "alpha", "2"
  uint64_t seed = 1;
  bool hot = false;
  bool variants = false;      // all of a rung's, not only the one that it takes
  bool tour = false;          // one case of each operator, and few samples
  bool small = false;         // the case for the software GPU
  bool fast = false;          // fewer samples; verify: small cases only
  bool known_roofs = false;   // the caller has measured the memory already
  bool rivals = false;        // on the software GPU, too
  bool instructions = false;  // on the software GPU: counts them, too
  bool predicted = false;     // choose: without asking the model of time
  bool unverified = false;    // on the software GPU: models rungs without verifying them
  uint64_t random = 0;        // verify: that many drawn cases, from `seed` on, and not the tests
  std::string folder;         // export_case: where the files go
  std::string table;          // tune: the file to write; none: the one that the library reads
  uint64_t shapes = 0;        // tune: for each format and transposition
  bool again = false;         // tune: forgets what the table has
};

// The words behind the program's name, and back.
std::vector<std::string> words_of(const Request& request);
Expected<Request> read_request(const std::vector<std::string>& words);

// --- answers ---

// A case, as far as it differs from what the operator's description has by default.
struct Asked {
  std::map<std::string, std::string> formats;        // of single tensors
  std::map<std::string, nlohmann::json> parameters;  // numbers; choices by their name
  std::string distribution;
  std::vector<std::string> with;            // optional tensors, on request
  std::vector<std::string> transposed;      // matrices
  std::map<std::string, std::string> same;  // outputs that are an input itself
  bool operator==(const Asked&) const = default;
};
struct CaseAnswer {
  std::string operator_, family, dtype, shape;
  std::string settings;  // what else distinguishes the case, to be read: "alpha=2"
  Asked asked;           // the same, to be used
  std::string unit;
  uint64_t seed = 1;
  double read = 0, written = 0, flops = 0;  // what it takes at least: bytes and operations
  std::string arithmetic;             // the kind of its operations, if it is not f32: "integer"
  double to_device = 0, to_host = 0;  // bytes over the bus
  // measure: how contestants were verified.
  std::string verified_at;    // the shape
  std::string verified_by;    // "reference", "samples" or "samples and proof"
  int64_t samples = 0;        // elements of the result that were looked at; 0: all
  bool library_only = false;  // of our rungs, only the one that the library takes
};

// What is known of one rung, or of one rival.
struct Step {
  std::string name, idea;
  bool rival = false;
  std::string wrong;        // what is wrong with its result
  std::string unsupported;  // why it cannot do this case
  std::string failed;       // why it could not be timed
  std::vector<double> us;   // samples
  // Of a rival in a process of its own: our rung that it took turns with there, and its samples.
  std::string beside;
  std::vector<double> beside_us;
  bool by_graph = false;
  double implausible_under = 0;  // µs; its median is under what physics allows
  std::optional<uint64_t> warp_instructions, thread_instructions;
  // On the software GPU: what the model of time says (docs/model.md).
  std::optional<double> modelled_us, modelled_low_us, modelled_high_us;
  std::string bound;  // "memory", "l2", …
  std::string why;    // one sentence on the bound: "8 KB in flight per SM, 40 KB needed"
};
struct StepAnswer {
  std::string stage;  // kVerified, kTimed, kCounted or kModelled
  Step step;          // what this stage found
};
constexpr const char *kVerified = "verified", *kTimed = "timed", *kCounted = "counted",
                     *kModelled = "modelled";

struct RoofsAnswer {  // bytes per second of the memory, measured; all 0 on the software GPU
  double copy = 0, read = 0, write = 0, pins = 0;
  // In a climb's record: operations per second by kind ("f32"), and what was not measured, from the
  // data of the GPU. Both are `ridge`'s to add.
  std::map<std::string, double> operations;
  bool unchecked = false;  // what comes from the data was not checked on this card
  nlohmann::json weather;  // clocks, temperature, power
};
struct MemoryAnswer {  // moving a case's bytes in the same mix, and nothing else
  std::string by;      // "copy", "read" or "write"
  std::vector<double> us;
};
struct RivalsAnswer {  // libraries that are not there
  std::vector<std::string> missing;
  std::string why;
};

struct CandidateRung {
  std::string rung, idea;
  std::string rejected;  // why it cannot do this
  bool lesson = false;   // taken only where nothing else can do it
  std::optional<double> predicted_us;
  std::optional<double> modelled_us;  // on the software GPU, if it is near to the best
};
struct ChoiceAnswer {
  CaseAnswer of_case;
  double bytes = 0, floor_us = 0;  // what it moves at least, and how long that takes
  int64_t launches = 0;
  std::string chosen, handed_to;        // handed_to: the family whose kernels serve the call
  bool study = false;                   // all rungs are lessons
  std::string tuned_by;                 // the table that predictions come from; none: the sources
  std::vector<std::string> bad_tables;  // why tables of this GPU are not used
  std::vector<CandidateRung> candidates;
};

struct LaunchAnswer {
  CaseAnswer of_case;
  std::string rung;
  int64_t elements = 0;  // of the largest tensor
};

// How far `tune` is. A candidate is a variant of a rung on one case.
struct TuneAnswer {
  std::string file;  // the table
  std::string now;   // what is being timed
  int64_t candidates = 0, known = 0, measured = 0;
};
// What `tune` found of one variant.
struct TunedAnswer {
  std::string rung, variant;
  int64_t samples = 0;
  std::vector<double> constants;  // none: too few samples
  double median_error = 0, p90_error = 0;
};

struct RungListed {
  std::string name, idea;
  nlohmann::json claims;  // of families that were asked for by name
};
struct FamilyAnswer {
  std::string family;
  std::vector<nlohmann::json> operators;  // their descriptions: src/operator/json.h
  std::vector<RungListed> rungs;
  std::vector<std::string> rivals;  // libraries that its operators can be timed beside
  // Of families that were asked for by name.
  std::string summary;
  int64_t tests = 0;
};

struct Failure {
  std::string message;
  int code = 0;
};

using Answer =
    std::variant<Failure, FamilyAnswer, RoofsAnswer, RivalsAnswer, CaseAnswer, StepAnswer,
                 MemoryAnswer, ChoiceAnswer, LaunchAnswer, TuneAnswer, TunedAnswer>;
std::string line_of(const Answer& answer);
std::optional<Answer> read_answer(const std::string& line);  // none: no answer of ours

// Of what stands in records and in --json, too. Reading throws nlohmann::json::exception where a
// field has another type; fields that are not there keep their default.
void to_json(nlohmann::json& out, const Asked& asked);
void from_json(const nlohmann::json& in, Asked& asked);
void to_json(nlohmann::json& out, const CaseAnswer& c);
void from_json(const nlohmann::json& in, CaseAnswer& c);
void to_json(nlohmann::json& out, const Step& step);
void from_json(const nlohmann::json& in, Step& step);
void to_json(nlohmann::json& out, const RoofsAnswer& roofs);
void from_json(const nlohmann::json& in, RoofsAnswer& roofs);
void to_json(nlohmann::json& out, const MemoryAnswer& memory);
void from_json(const nlohmann::json& in, MemoryAnswer& memory);
void to_json(nlohmann::json& out, const ChoiceAnswer& choice);
void to_json(nlohmann::json& out, const CandidateRung& candidate);
void from_json(const nlohmann::json& in, CandidateRung& candidate);
void to_json(nlohmann::json& out, const TunedAnswer& tuned);
void to_json(nlohmann::json& out, const RungListed& rung);
void from_json(const nlohmann::json& in, RungListed& rung);

}  // namespace ridge::ladders
