// The program ridge_ladders, which holds the ladders, called from here. It runs on the chosen
// device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/status.h"
#include "flags.h"
#include "ladders/protocol.h"
#include "process.h"
#include "target.h"

namespace ridge::tools {

// Sends it a request and passes every answer to `heard`. The status is the error that it reported.
Status ask_ladders(const Target& target, const ladders::Request& request,
                   const std::function<void(const ladders::Answer&)>& heard);
// The exit code for an error that it reported.
int exit_code_of(const ladders::Failure& failure);
std::string ladders_program();  // its path
Command ladders_command(const Target& target, const ladders::Request& request);

// An operator as its description has it; `json` is the whole of it.
struct OperatorEntry {
  std::string name, formula;
  std::vector<std::string> formats, dimensions, parameters, distributions, aliases;
  std::vector<std::string> on_request;  // tensors
  nlohmann::json json;
};
struct RungEntry {
  std::string name, idea;
};
struct FamilyEntry {
  std::string name;
  std::vector<RungEntry> rungs;
  std::vector<std::string> rivals;  // libraries that its operators can be timed beside
  std::vector<OperatorEntry> operators;
};

// Every operator there is. No kernel has to be built for that.
class Catalogue {
 public:
  static Expected<Catalogue> ask(const Target& target);

  const std::vector<FamilyEntry>& families() const { return families_; }

  // By the operator's name, a name it had before, or its family's; an error suggests the nearest.
  struct Found {
    const FamilyEntry* family = nullptr;
    const OperatorEntry* op = nullptr;
  };
  Expected<Found> find(const std::string& name) const;
  // A rung's own name, which may be given with its number: 03_padded.
  Expected<std::string> rung_name(const std::string& op, const std::string& wanted) const;

 private:
  std::vector<FamilyEntry> families_;
};

// What the command line says of the case of an operator.
struct CaseFlags {
  std::string shape, dtype, distribution, with, transposed, seed;
  CommandLine::Settings settings;  // sizes and parameters by name

  void add_to(CommandLine& line);
  bool empty() const;  // but for the seed
  bool has_size() const { return !shape.empty() || !settings.empty(); }
  // For a verb without an operator: complains about flags of this group that were given.
  Status refused(const CommandLine& line) const;
  // The same as a request for this operator. An error names what the operator does not have, and
  // suggests the nearest name.
  Expected<ladders::Request> request_for(const OperatorEntry& op) const;
};

}  // namespace ridge::tools
