#include "docs/declared_ops.h"

#include <fstream>
#include <regex>
#include <stdexcept>

namespace tessera::docs {
namespace {

std::ifstream opened(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " cannot be read.");
  return file;
}

// Without comments and preprocessor lines, on one line.
std::string code_of(const std::filesystem::path& path) {
  std::ifstream file = opened(path);
  std::string code, line;
  for (bool in_macro = false; std::getline(file, line);) {
    const bool is_macro = in_macro || line.starts_with('#');
    in_macro = is_macro && line.ends_with('\\');
    if (!is_macro) code += line.substr(0, line.find("//")) + ' ';
  }
  return code;
}

// Adds what the pattern's group matches, where the whole match has `needed` in it.
void add_names(std::set<std::string>& names, const std::string& code, const char* pattern, const char* needed = "") {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(code.begin(), code.end(), regex), end; match != end; ++match)
    if (match->str().find(needed) != std::string::npos) names.insert((*match)[1]);
}

std::set<std::string> names_in(const std::string& code) {
  std::set<std::string> names, of_macros;
  add_names(names, code, R"(TESSERA_API [^;{}()]*?(operator[^\s(]+|\w+)\([^;{}]*)", "Tensor");
  // Members of temporaries give these themselves, as compute() does.
  add_names(names, code, R"([;{}:>] +Tensor (\w+)\((?![^;{}]*\) *&&))");
  add_names(of_macros, code, R"(TESSERA_(?!API)\w+\(([^\s)]+)\))");
  for (const std::string& name : of_macros)
    names.insert(std::isalpha(static_cast<unsigned char>(name[0])) ? name : "operator" + name);
  return names;
}

}  // namespace

std::map<std::string, std::set<std::string>> declared_ops(const std::filesystem::path& folder) {
  std::map<std::string, std::set<std::string>> declared;
  std::ifstream umbrella = opened(folder / "tessera.h");
  const std::regex include(R"(#include <tessera/(\w+\.h)>)");
  std::smatch match;
  for (std::string line; std::getline(umbrella, line);)
    if (std::regex_match(line, match, include))
      declared["tessera/" + match.str(1)] = names_in(code_of(folder / match.str(1)));
  return declared;
}

}  // namespace tessera::docs
