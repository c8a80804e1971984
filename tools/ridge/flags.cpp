#include "flags.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/gpu_spec.h"
#include "suggest.h"
#include "terminal.h"

namespace ridge::tools {
namespace {

std::string lower(std::string text) { return CLI::detail::to_lower(text); }

// A CLI11 check: an empty text is consent.
auto one_of(const std::string& what, const std::vector<std::string>& names) {
  return [=](const std::string& value) -> std::string {
    if (std::find(names.begin(), names.end(), value) != names.end()) return "";
    return fmt::format("there is no {} '{}'{}\n  known: {}", what, value,
                       did_you_mean(value, names), fmt::join(names, " "));
  };
}

std::string finite_positive(const std::string& value) {
  double number = 0;
  const bool ok = CLI::detail::lexical_cast(value, number) && number > 0 && number <= 1e9;
  return ok ? "" : fmt::format("'{}' is not a number of seconds above 0", value);
}

std::string at_least_one(const std::string& value) {
  unsigned number = 0;
  const bool ok = CLI::detail::lexical_cast(value, number) && number >= 1 && number <= 4096;
  return ok ? "" : fmt::format("'{}' is not a number of threads from 1 to 4096", value);
}

}  // namespace

CommandLine::CommandLine(const std::string& verb, const std::string& summary)
    : verb_(verb), app_(std::make_unique<CLI::App>(summary, "ridge " + verb)) {
  app_->allow_extras();  // named, with a suggestion, in parse()
  app_->add_flag("--no-color", no_color_, "print plain text");
}

CommandLine::~CommandLine() = default;

void CommandLine::add_argument(const char* name, std::string& value, const char* help) {
  app_->add_option(name, value, help)->type_name(" ");
}

void CommandLine::add_argument(const char* name, std::string& value, const char* help,
                               const std::vector<std::string>& choices) {
  add_choice(name, value, " ", help, lower(name), choices);
}

void CommandLine::add_arguments(const char* name, std::vector<std::string>& values,
                                const char* help) {
  app_->add_option(name, values, help)->type_name(" ");
}

void CommandLine::add_option(const char* name, std::string& value, const char* kind,
                             const char* help) {
  app_->add_option(name, value, help)->type_name(kind);
}

void CommandLine::add_option(const char* name, std::vector<std::string>& values, const char* kind,
                             const char* help) {
  app_->add_option(name, values, help)->type_name(kind)->allow_extra_args(false);
}

void CommandLine::add_flag(const char* name, bool& value, const char* help) {
  app_->add_flag(name, value, help);
}

void CommandLine::add_footer(const char* text) { app_->footer(text); }

void CommandLine::add_device(DeviceFlags& flags) {
  add_device(flags, "auto, gpu or vm (the software GPU); auto: a GPU if there is one");
}
void CommandLine::add_observed_device(DeviceFlags& flags) {
  add_device(flags, "only vm is possible here: only the software GPU sees every access");
}
void CommandLine::add_device(DeviceFlags& flags, const char* help) {
  std::vector<std::string> gpus;
  for (const GpuSpec& gpu : all_gpus()) gpus.emplace_back(gpu.key);
  add_choice("--device", flags.device, "KIND", help, "device", {"auto", "gpu", "vm"});
  add_choice(
      "--gpu", flags.gpu, "NAME",
      fmt::format("make the software GPU report itself as this GPU: {}", fmt::join(gpus, " ")),
      "GPU", gpus);
}

void CommandLine::add_choice(const char* name, std::string& value, const char* kind,
                             const std::string& help, const std::string& what,
                             const std::vector<std::string>& choices) {
  const CLI::Option* option = app_->add_option(name, value, help)
                                  ->type_name(kind)
                                  ->transform(lower)
                                  ->check(one_of(what, choices));
  choices_[option] = choices;
}

void CommandLine::add_threads(DeviceFlags& flags) {
  app_->add_option("--threads", flags.threads,
                   "run the software GPU on N CPU threads (default: one per core)")
      ->type_name("N")
      ->check(at_least_one);
}

void CommandLine::add_timeout(double& seconds) {
  app_->add_option("--timeout", seconds,
                   "end the program soon after a kernel has run for this many seconds")
      ->type_name("SECONDS")
      ->check(finite_positive);
}

void CommandLine::add_json(std::string& file) {
  add_option("--json", file, "FILE",
             "write a record as JSON; - writes it to stdout, in place of the table");
}

void CommandLine::add_watch(bool& watch) {
  add_flag("--watch", watch,
           "run again whenever the file or one of its headers changes, until Ctrl-C");
}

void CommandLine::add_quiet(bool& quiet) {
  add_flag("--quiet,-q", quiet, "show no progress on stderr");
}

std::optional<int> CommandLine::describe(const Arguments& arguments, bool has_tail) const {
  if (arguments == Arguments{"--help"} || arguments == Arguments{"-h"}) {
    fmt::print("{}", app_->help());
    return kFine;
  }
  if (arguments != Arguments{"--describe-flags"}) return std::nullopt;
  using nlohmann::json;
  json about = {{"verb", verb_},
                {"summary", app_->get_description()},
                {"footer", app_->get_footer()},
                {"arguments", json::array()},
                {"flags", json::array()},
                {"has_tail", has_tail}};
  for (const CLI::Option* option : app_->get_options()) {
    json flag = {{"help", option->get_description()}};
    if (const auto choices = choices_.find(option); choices != choices_.end())
      flag["choices"] = choices->second;
    if (option->get_positional()) {
      flag["name"] = option->get_name(true);
      flag["many"] = option->get_items_expected_max() > 1;
      about["arguments"].push_back(flag);
      continue;
    }
    flag["names"] = json::array();
    for (const std::string& name : option->get_snames()) flag["names"].push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag["names"].push_back("--" + name);
    flag["kind"] = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
    about["flags"].push_back(flag);
  }
  fmt::print("{}\n", about.dump());
  return kFine;
}

std::vector<std::string> CommandLine::flag_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

void CommandLine::take_settings(Arguments& arguments) const {
  const std::vector<std::string> known = flag_names();
  Arguments rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!name.starts_with("--") || name.size() == 2 || std::ranges::count(known, name)) {
      rest.push_back(word);
      continue;
    }
    std::string value;
    if (equals != word.npos) value = word.substr(equals + 1);
    else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with("--"))
      value = arguments[++i];
    settings_->emplace_back(name.substr(2), value);
  }
  arguments = std::move(rest);
}

std::optional<int> CommandLine::parse(const Arguments& arguments, Arguments* tail) {
  if (const auto done = describe(arguments, tail != nullptr)) return done;
  Arguments ours = arguments;
  if (tail)
    if (const auto dashes = std::find(ours.begin(), ours.end(), "--"); dashes != ours.end()) {
      tail->assign(dashes + 1, ours.end());
      ours.erase(dashes, ours.end());
    }
  if (settings_) take_settings(ours);
  std::reverse(ours.begin(), ours.end());  // CLI11 takes them from the back
  try {
    app_->parse(ours);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app_->help());
    return kFine;
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    return kUsage;
  }
  if (no_color_) set_color(false);

  const Arguments extra = app_->remaining();
  if (extra.empty()) return std::nullopt;
  const auto flag = std::find_if(extra.begin(), extra.end(),
                                 [](const std::string& word) { return word.starts_with("-"); });
  if (flag == extra.end()) {
    complain(fmt::format("unexpected argument '{}'{}", extra.front(),
                         tail ? "; what belongs to the program goes after --" : ""));
    return kUsage;
  }
  complain(fmt::format("there is no flag '{}'{} `{} --help` lists them.", *flag,
                       did_you_mean(flag->substr(0, flag->find('=')), flag_names()),
                       app_->get_name()));
  return kUsage;
}

Expected<uint64_t> whole_number(const std::string& text, const char* flag, uint64_t least) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    return Error{kUsage, fmt::format("{}: '{}' is not a number{}", flag, text,
                                     least ? fmt::format(" above {}", least - 1) : "")};
  return value;
}

}  // namespace ridge::tools
