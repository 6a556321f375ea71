#include "core/platform/replacing_file.h"

#include <system_error>

#include "core/base/quoting.h"
#include <tessera/error.h>

namespace tessera {

void refuse_nul(const std::string& op, const std::filesystem::path& path) {
  if (path.native().find(std::filesystem::path::value_type{}) == std::filesystem::path::string_type::npos) return;
  throw Error(ErrorCode::io,
              op + ": " + in_quotes(path.string()) + ": there is a NUL in this path, where it would end.");
}

void ReplacingFile::fail(const std::string& reason) const {
  throw Error(ErrorCode::io, op_ + ": " + path_.string() + ": " + reason + ".");
}

void ReplacingFile::fail(const char* what, int error) const {
  fail(std::string("could not ") + what + ": " + std::generic_category().message(error));
}

}  // namespace tessera
