// The top level of a PTX module; function bodies are stepped over, brace to brace.
#include "vm/parse/module.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "vm/parse/parser.h"

namespace ridge::vm {
namespace parse {
namespace {

constexpr uint64_t kMaxFiles = 1 << 20;

// LLVM writes a file name's quotes, backslashes and non-ASCII bytes as \", \\ and \ooo.
std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    int value = 0;
    size_t digits = 0;
    while (digits < 3 && i + 1 + digits < text.size() && text[i + 1 + digits] >= '0' &&
           text[i + 1 + digits] <= '7')
      value = value * 8 + (text[i + 1 + digits++] - '0');
    if (digits == 3) out += char(value);
    else if (text[i + 1] == '"' || text[i + 1] == '\\') out += text[i + 1];
    else out += text.substr(i, 2);
    i += digits == 3 ? 3 : 1;
  }
  return out;
}

class ModuleParser : public Parser {
 public:
  explicit ModuleParser(Module& module) : Parser(module, 0, module.text.size(), 1) {}
  void module();

 private:
  struct Alias {
    Token at;
    std::string_view alias, aliasee;
  };

  void statement();
  void version();
  void target();
  void file();
  void alias();
  void variables(Linkage linkage);
  void function(Linkage linkage);
  void performance(Function& f);
  void dimensions(uint32_t (&dims)[3]);
  void body(Function& f);
  Variable& declare(Variable&& v, const Token& at, Variable& unused);
  Function& declare(Function&& f, const Token& at);
  void resolve_aliases();

  std::vector<Alias> aliases_;
};

// module = version statement*
void ModuleParser::module() {
  if (!token().is_directive("version"))
    fail_expected(".version, with which every PTX module starts");
  while (token().kind != TokenKind::end) statement();
  resolve_aliases();
}

// statement = version | target | '.address_size' integer | file | section | pragma | alias
//           | linkage* (variables | function) | '@@' the rest of the line (DWARF of PTX 1.x)
void ModuleParser::statement() {
  const Token t = token();
  if (t.is("@@")) return lexer_.skip_line();
  if (t.kind != TokenKind::directive) fail_expected("a directive such as .visible");
  if (accept_directive("version")) return version();
  if (accept_directive("target")) return target();
  if (accept_directive("file")) return file();
  if (accept_directive("section")) return section();
  if (accept_directive("pragma")) return void(pragma());
  if (accept_directive("alias")) return alias();
  if (accept_directive("address_size")) {
    module_.address_size = int(integer_up_to(64, "an address size"));
    return;
  }
  const Linkage l = linkage();
  if (at_space()) return variables(l);
  if (token().is_directive("entry") || token().is_directive("func")) return function(l);
  if (token().kind == TokenKind::directive)
    fail("unknown directive '." + std::string(token().text) + "'");
  fail_expected("a state space, .func or .entry");
}

// version = '.version' major '.' minor
void ModuleParser::version() {
  const std::string_view text = token().text;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, module_.version_major);
  if (token().kind != TokenKind::real || major.ec != std::errc() || major.ptr == end ||
      *major.ptr != '.' || std::from_chars(major.ptr + 1, end, module_.version_minor).ptr != end)
    fail_expected("a version such as 9.0");
  next();
}

// target = '.target' name (',' name)*
void ModuleParser::target() {
  module_.target = name("a target such as sm_90");
  while (accept(','))
    if (name("a target option") == "debug") module_.optimised = false;
}

// file = '.file' integer string (',' integer ',' integer)?
void ModuleParser::file() {
  const uint64_t index = integer_up_to(kMaxFiles, "a file's index");
  if (token().kind != TokenKind::string) fail_expected("a file's name in quotes");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = unescape(token().text);
  next();
  while (accept(',')) integer("a file's time or size");
}

// alias = '.alias' name ',' name ';'
void ModuleParser::alias() {
  const Token at = token();
  const std::string_view alias = name("a function's name");
  expect(',', "between the names of .alias");
  const std::string_view aliasee = name("a function's name");
  expect(';', "after .alias");
  aliases_.push_back({at, alias, aliasee});
}

// An alias becomes a function of its own over the same body.
void ModuleParser::resolve_aliases() {
  for (const Alias& a : aliases_) {
    const Function* target = find_function(a.aliasee);
    if (!target || !target->defined)
      fail_at(a.at, "'" + std::string(a.aliasee) + "', which '" + std::string(a.alias) +
                        "' stands for, has no body");
    Function declaration;
    declaration.name = a.alias;
    Function& f = declare(std::move(declaration), a.at);
    if (f.defined) fail_at(a.at, "'" + f.name + "' has a body of its own and cannot be an alias");
    Function copy = *target;
    copy.name = std::move(f.name);  // the map's key looks at this string: keep it in place
    if (f.linkage != Linkage::external) copy.linkage = f.linkage;
    f = std::move(copy);
  }
}

// variables = declaration declarator ('=' initializer)? (',' declarator ('=' initializer)?)* ';'
void ModuleParser::variables(Linkage linkage) {
  const Declaration d = declaration();
  if (d.space == Space::reg) fail("registers are declared inside functions");
  std::vector<uint64_t> dims;
  Variable unused;
  do {
    const Token at = token();
    Variable v = declarator(d, dims);
    v.linkage = linkage;
    // First, because it may hold its own address.
    Variable& declared = declare(std::move(v), at, unused);
    if (accept('=')) initializer(declared, dims);
  } while (accept(','));
  expect(';', "after a variable");
}

// Of several declarations the strongest linkage wins, and of equals the first; two ordinary ones
// are an error. Pointers to the variable stay good. Returns `unused`, for the initialiser, where
// `v` lost.
Variable& ModuleParser::declare(Variable&& v, const Token& at, Variable& unused) {
  if (find_function(v.name)) fail_at(at, "'" + v.name + "' is already a function");
  const auto it = module_.variable_by_name.find(v.name);
  if (it == module_.variable_by_name.end()) {
    Variable& kept = module_.variables.emplace_back(std::move(v));
    module_.variable_by_name.emplace(kept.name, &kept);
    return kept;
  }
  const auto strength = [](Linkage l) {
    return l == Linkage::external ? 0 : l == Linkage::common ? 1 : l == Linkage::weak ? 2 : 3;
  };
  Variable& earlier = *it->second;
  if (earlier.space != v.space) fail_at(at, "'" + v.name + "' was declared in another state space");
  if (strength(earlier.linkage) == 3 && strength(v.linkage) == 3)
    fail_at(at, "'" + v.name + "' is declared twice; the first is on line " +
                    std::to_string(earlier.line));
  if (strength(v.linkage) <= strength(earlier.linkage)) return unused = std::move(v);
  v.name = std::move(earlier.name);  // the map's key looks at this string: keep it in place
  return earlier = std::move(v);
}

// function = ('.entry' | '.func') attribute? parameters? name parameters? performance (body | ';')
void ModuleParser::function(Linkage linkage) {
  Function f;
  f.linkage = linkage;
  f.entry = token().is_directive("entry");
  next();
  while (accept_directive("attribute")) skip_parentheses();
  if (!f.entry && token().is('(')) parameters(f.results);
  const Token at = token();
  f.line = at.line;
  f.name = name("a function's name");
  if (token().is('(')) parameters(f.params);
  performance(f);
  f.defined = token().is('{');
  Function& declared = declare(std::move(f), at);
  if (token().is('{')) return body(declared);
  expect(';', "or '{' after a function's parameters");
}

// A definition completes earlier prototypes, and a later prototype adds nothing; the Function stays
// the same object.
Function& ModuleParser::declare(Function&& f, const Token& at) {
  if (find_variable(f.name)) fail_at(at, "'" + f.name + "' is already a variable");
  const auto it = module_.function_by_name.find(f.name);
  if (it == module_.function_by_name.end()) {
    Function& kept = module_.functions.emplace_back(std::move(f));
    module_.function_by_name.emplace(kept.name, &kept);
    return kept;
  }
  Function& earlier = *it->second;
  if (earlier.defined && f.defined)
    fail_at(at, "'" + f.name + "' is defined twice; the first is on line " +
                    std::to_string(earlier.line));
  if (earlier.entry != f.entry) fail_at(at, "'" + f.name + "' is declared both .entry and .func");
  earlier.noreturn |= f.noreturn;
  if (!f.defined) return earlier;
  if (f.linkage == Linkage::internal && earlier.linkage != Linkage::external)
    f.linkage = earlier.linkage;
  f.noreturn = earlier.noreturn;
  f.name = std::move(earlier.name);
  earlier = std::move(f);
  return earlier;
}

// performance = (directive arguments)*, between a function's parameters and its body
void ModuleParser::performance(Function& f) {
  while (token().kind == TokenKind::directive) {
    const Token t = token();
    next();
    if (t.text == "maxntid") dimensions(f.maxntid);
    else if (t.text == "reqntid") dimensions(f.reqntid);
    else if (t.text == "reqnctapercluster") dimensions(f.reqnctapercluster);
    else if (t.text == "minnctapersm")
      f.minnctapersm = uint32_t(integer_up_to(UINT32_MAX, ".minnctapersm"));
    else if (t.text == "maxnctapersm")
      f.maxnctapersm = uint32_t(integer_up_to(UINT32_MAX, ".maxnctapersm"));
    else if (t.text == "maxnreg") f.maxnreg = uint32_t(integer_up_to(UINT32_MAX, ".maxnreg"));
    else if (t.text == "maxclusterrank")
      f.maxclusterrank = uint32_t(integer_up_to(UINT32_MAX, ".maxclusterrank"));
    else if (t.text == "explicitcluster") f.explicitcluster = true;
    else if (t.text == "blocksareclusters") f.blocksareclusters = true;
    else if (t.text == "noreturn") f.noreturn = true;
    else if (t.text == "pragma") (void)pragma();
    else if (t.text == "attribute") skip_parentheses();
    else if (t.text.starts_with("abi_preserve")) integer("a register count");
    else fail_at(t, "unknown directive '." + std::string(t.text) + "' on a function");
  }
}

// dimensions = integer (',' integer (',' integer)?)?
void ModuleParser::dimensions(uint32_t (&dims)[3]) {
  std::fill(std::begin(dims), std::end(dims), 1);
  int i = 0;
  do {
    if (i == 3) fail("there are three dimensions at most");
    dims[i++] = uint32_t(integer_up_to(UINT32_MAX, "a dimension"));
  } while (accept(','));
}

// body = '{' … '}', read later by parse_body
void ModuleParser::body(Function& f) {
  f.body_begin = lexer_.offset() + 1;
  f.body_line = token().line;
  f.body_column = token().column + 1;
  if (!lexer_.skip_braces()) fail("no '}' closes the body of '" + f.name + "'");
  f.body_end = lexer_.offset();
  next();
}

}  // namespace
}  // namespace parse

Expected<std::unique_ptr<Module>> parse_module(std::string text, std::string name) {
  auto module = std::make_unique<Module>();
  while (!text.empty() && text.back() == '\0') text.pop_back();  // fat binaries pad with them
  module->text = std::move(text);
  module->name = std::move(name);
  try {
    parse::ModuleParser(*module).module();
    return module;
  } catch (const parse::SyntaxError& e) {
    return Error{1, diagnostic(*module, e.line, e.column, e.message)};
  } catch (const std::length_error& e) {
    return Error{1, module->name + ": cannot read this module: " + e.what()};
  }
}

std::string diagnostic(const Module& module, uint32_t line, uint32_t column,
                       std::string_view message) {
  constexpr size_t kWidth = 200;  // an initialiser may be one line of megabytes
  const std::string_view text = module.text;
  size_t begin = 0;
  for (uint32_t i = 1; i < line && begin < text.size(); i++)
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  std::string_view source = text.substr(begin, text.find('\n', begin) - begin);
  if (source.ends_with('\r')) source.remove_suffix(1);
  size_t caret = std::min<size_t>(column > 0 ? column - 1 : 0, source.size());
  if (const size_t cut = caret > kWidth / 2 ? caret - kWidth / 2 : 0; source.size() > kWidth) {
    source = source.substr(cut, kWidth);
    caret -= cut;
  }
  std::string out = module.name + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  out.append(message).append("\n").append(source).append("\n");
  // Tabs stay tabs, so that the caret stands where the terminal put the character.
  for (size_t i = 0; i < caret; i++) out += source[i] == '\t' ? '\t' : ' ';
  return out + "^";
}

}  // namespace ridge::vm
