// What went wrong in a program, as a value. Faults of kernels, failing CUDA calls and the hazards
// that `ridge check` finds all have this form from where they are noticed to where they are written
// (text.h for people, to_json for programs), so that each form is written in one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridge::vm::report {

// A line of the program's source. Device code without -lineinfo has only its PTX line; host code
// without debug information has only its function.
struct Place {
  std::string file;  // as the compiler wrote it; empty: not known
  uint32_t line = 0;
  uint32_t column = 0;   // 0: not known
  std::string function;  // of host code: "main"; with its offset where the line is not known
  std::string inside;    // the toolkit's header that was inlined there: "file:line"
  uint32_t ptx_line = 0;
  std::string instruction;  // of device code: "ld.global.f32"; of host code the call: "cudaMemcpy"

  bool known() const { return !file.empty() || !function.empty() || !instruction.empty(); }
};

// Who did what. A race has two of them, a failing call has one.
struct Party {
  std::string act;  // "read of 4 bytes", "write", "call"
  std::string who;  // "thread (3,0,0) of block (0,0,0)"
  Place place;

  bool there() const { return !act.empty() || place.known(); }
};

// A change of the program's text that a fix means: `from` becomes `to` in the line; without `from`,
// `to` becomes a line of its own before it.
struct Edit {
  std::string file;
  uint32_t line = 0;
  std::string from, to;
};

enum class Severity : uint8_t { error, warning };

struct Finding {
  std::string kind;  // "race", "out-of-bounds", "failed-call"; docs/check.md lists them
  Severity severity = Severity::error;
  std::string space;   // "shared", "global" or empty
  std::string kernel;  // demangled, without its parameters
  Party first, second;
  uint64_t address = 0;
  std::string memory;              // "'tile', byte 12 of 256"
  std::string message;             // one sentence without its full stop
  std::vector<std::string> notes;  // more sentences, one line each
  std::string fix;                 // what to do about it
  std::string fix_kind;            // the same in one word, for programs: "syncthreads-between"
  std::vector<Edit> edits;
  std::string scope;  // of a race, how far apart the threads are: lanes, block, grid, launches
  uint64_t count = 1;
  uint64_t seed = 0;  // of the schedule that showed it; 0: the usual one

  explicit operator bool() const { return !kind.empty(); }
  // Where an editor should jump to.
  const Place& place() const;
};

// "race in shared memory"; empty for a kind whose message says it all.
std::string title(const Finding& finding);

// "thread (3,0,0) of block (0,0,0)".
std::string thread_name(const uint32_t thread[3], const uint32_t block[3]);

// As the user types it: relative where it lies below the folder the program was started in.
std::string shown_path(const std::string& file);
const std::string& start_folder();  // with a slash at its end; known from the first call on

// Whether a path is one of the CUDA toolkit's headers or of Triton's own library, whose lines say
// nothing to the user.
bool is_of_toolkit(std::string_view path);

std::string without_parameters(std::string name);  // "void a::b<float>(int)" → "a::b<float>"
std::string function_name(const std::string& cpp_symbol);  // demangled, and without them

// One JSON object on one line. `more`: further members, each beginning with a comma.
std::string to_json(const Finding& finding, std::string_view more = {});

}  // namespace ridge::vm::report
