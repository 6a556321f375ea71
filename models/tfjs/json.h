// Members of a JSON document that nobody vouches for: one that is not of the kind that is asked for is an io error.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/wire.h"

namespace tessera::tfjs {

using Json = nlohmann::ordered_json;  // outputs keep the order of the file

Json parsed(onnx::Bytes);

const Json* member(const Json& object, const char* name);  // null where it is not there, or null itself
const Json& needed(const Json& object, const char* name);
const Json& list_in(const Json& object, const char* name);

// `what` names the value for the error. Whole numbers may be texts, as JSON of 64-bit integers is.
std::int64_t whole_number(const Json&, const std::string& what);
double number(const Json&, const std::string& what);  // also "NaN", "Infinity" and "-Infinity"
std::string text(const Json&, const std::string& what);
bool truth(const Json&, const std::string& what);
std::vector<std::int64_t> whole_numbers(const Json&, const std::string& what);

[[noreturn]] void fail_reading(const std::string& sentence);

}  // namespace tessera::tfjs
