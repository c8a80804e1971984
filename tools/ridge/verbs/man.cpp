// ridge man: the manual page, in roff, made of what every verb says about itself.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "describe.h"
#include "flags.h"
#include "terminal.h"
#include "verb.h"

namespace ridge::tools {
namespace {

// Plain text as roff shows it: a dash stays a dash, and no line begins a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '-' || c == '\\') out += '\\';
    out += c == '\\' ? 'e' : c;
  }
  return out;
}

// A text whose line breaks are meant.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (const char c : roff(text)) {
    if (c == '\n') out += "\n.br";
    out += c;
  }
  return out;
}

std::string synopsis(const nlohmann::json& verb) {
  std::string line = fmt::format("\\fBridge {}\\fR", verb["verb"].get<std::string>());
  for (const auto& argument : verb["arguments"])
    line += fmt::format(" \\fI{}\\fR{}", argument["name"].get<std::string>(),
                        argument["many"].get<bool>() ? "\\|.\\|.\\|." : "");
  line += " [\\fIflags\\fR]";
  if (verb["has_tail"].get<bool>()) line += " [\\-\\- \\fIarguments\\fR]";
  return line;
}

std::string section(const nlohmann::json& verb) {
  std::string out = fmt::format(".SS {}\n{}\n.PP\n{}\n", verb["verb"].get<std::string>(),
                                synopsis(verb), roff(verb["summary"].get<std::string>()));
  for (const auto& argument : verb["arguments"])
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", argument["name"].get<std::string>(),
                       roff(argument["help"].get<std::string>()));
  for (const auto& flag : verb["flags"]) {
    if (const std::string last = flag["names"].back(); last == "--help" || last == "--no-color")
      continue;  // every verb has them
    std::string names;
    for (const auto& name : flag["names"])
      names +=
          fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name.get<std::string>()));
    if (const std::string kind = flag["kind"]; !kind.empty())
      names += fmt::format(" \\fI{}\\fR", roff(kind));
    out += fmt::format(".TP\n{}\n{}\n", names, roff(flag["help"].get<std::string>()));
  }
  if (const std::string footer = verb["footer"]; !footer.empty())
    out += fmt::format(".PP\n{}\n", paragraphs(footer));
  return out;
}

int man_main(const Arguments& arguments) {
  CommandLine line("man", "Prints the manual page, in roff.");
  line.add_footer("To read it: ridge man | man -l -");
  if (const auto done = line.parse(arguments)) return *done;
  const auto verbs = describe_verbs();
  if (!verbs) return failed(verbs.error());
  fmt::print(
      ".TH RIDGE 1 \"\" \"ridge {}\" \"User Commands\"\n"
      ".SH NAME\nridge \\- GPU kernels from the first thread to the roofline, on any machine\n"
      ".SH SYNOPSIS\n\\fBridge\\fR \\fIVERB\\fR [\\fIflags\\fR]\n.br\n"
      "\\fBridge\\fR \\fIFILE.cu\\fR [\\fIflags\\fR] [\\-\\- \\fIarguments\\fR]  (as ridge run)\n"
      ".SH DESCRIPTION\n"
      "Ridge runs CUDA programs: on the GPU if there is one, otherwise on its own software GPU,\n"
      "which executes the PTX in the program on CPU cores. Results go to stdout, progress and\n"
      "complaints to stderr. Every verb lists its flags with \\fB\\-\\-help\\fR, and writes plain "
      "text with\n\\fB\\-\\-no\\-color\\fR.\n"
      ".SH VERBS\n",
      RIDGE_VERSION);
  for (const auto& verb : *verbs) fmt::print("{}", section(verb));
  fmt::print(".SH EXIT STATUS\n`ridge run` returns the exit code of the program.\n");
  for (const ExitCode& exit : kExitCodes)
    fmt::print(".TP\n{}\n{}\n", int(exit.code), roff(exit.meaning));
  fmt::print(
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBXDG_CACHE_HOME\\fR\n"
      "Compiled programs are kept in its folder ridge; without it in ~/.cache/ridge. Where "
      "neither\n"
      "can be written, a folder in \\fBTMPDIR\\fR is used.\n"
      ".TP\n\\fBNO_COLOR\\fR\nPlain text, as with \\-\\-no\\-color.\n"
      ".TP\n\\fBTERM\\fR\nA terminal called dumb gets plain text, too, and no progress line.\n");
  return kFine;
}

}  // namespace

extern const Verb man_verb = {
    .position = 120,
    .name = "man",
    .summary = "print the manual page, in roff",
    .main = man_main,
};

}  // namespace ridge::tools
