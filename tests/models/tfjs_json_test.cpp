// The reader of JSON that TF.js's models are read with.
#include <gtest/gtest.h>

#include "models/tfjs/json.h"
#include "support/devices.h"
#include <tessera/error.h>

namespace tessera::test::tfjs_json_test {
namespace {

using tfjs::Json;
using tfjs::JsonDocument;

onnx::Bytes bytes_of_text(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(TfjsJson, HasValuesOfEveryKind) {
  const std::string text =
      R"( {"a": [1, -2.5e2, "x\n\u00e9\"y", true, null, {}, []], "b": {"c": "1234567890123"}, "d": 18446744073709551616,
    "e": 3.0, "b": {"c": 7}} )";
  const JsonDocument document(bytes_of_text(text));
  const Json& root = document.root();
  const Json& list = tfjs::list_in(root, "a");
  ASSERT_EQ(list.size(), 7u);
  EXPECT_EQ(tfjs::whole_number(list[0], "it"), 1);
  EXPECT_EQ(tfjs::number(list[1], "it"), -250);
  EXPECT_EQ(tfjs::whole_number(list[1], "it"), -250);
  EXPECT_EQ(tfjs::text(list[2], "it"), "x\n\xc3\xa9\"y");
  EXPECT_TRUE(tfjs::truth(list[3], "it"));
  EXPECT_TRUE(list[4].is_null());
  EXPECT_TRUE(list[5].is_object());
  EXPECT_TRUE(list[6].empty());
  EXPECT_EQ(tfjs::whole_number(tfjs::needed(tfjs::needed(root, "b"), "c"), "it"), 7);  // the last one counts
  EXPECT_EQ(tfjs::number(tfjs::needed(root, "d"), "it"), 18446744073709551616.0);
  EXPECT_EQ(tfjs::whole_number(tfjs::needed(root, "e"), "it"), 3);
  std::string names;
  for (const auto& [name, value] : root.items()) names += name;
  EXPECT_EQ(names, "abdeb");
  EXPECT_EQ(tfjs::member(root, "z"), nullptr);
  EXPECT_EQ(tfjs::member(list[0], "z"), nullptr);
  EXPECT_TESSERA_ERROR(tfjs::needed(root, "z"), io, "'z' is missing");
  EXPECT_TESSERA_ERROR(tfjs::whole_number(list[2], "it"), io, "it is no whole number");
  EXPECT_TESSERA_ERROR(tfjs::whole_number(tfjs::needed(root, "d"), "it"), io, "it is no whole number");
  EXPECT_TESSERA_ERROR(tfjs::number(list[3], "it"), io, "it is no number");
  EXPECT_TESSERA_ERROR(tfjs::text(list[0], "it"), io, "it is no text");
  EXPECT_TESSERA_ERROR(tfjs::truth(list[0], "it"), io, "neither true nor false");
}

TEST(TfjsJson, ThatIsNoneSaysWhere) {
  for (const char* text :
       {"",           " ",     "{",  "[",   "[1",    "[1,",     "[1 2]",   "{\"a\"",     "{\"a\":", "{\"a\":1",
        "{\"a\":1,}", "{1:2}", "\"", "\"a", "\"a\\", "\"a\\\"", "\"\\q\"", "tru",        "nul",     "+1",
        "-",          "1.",    "1e", ".5",  "--1",   "1 2",     "x",       "\"\\ud800\""})
    EXPECT_TESSERA_ERROR(JsonDocument{bytes_of_text(text)}, io, "it is no JSON", "at byte");
  EXPECT_TESSERA_ERROR(JsonDocument{bytes_of_text(std::string(100'000, '['))}, io, "too deep");
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  EXPECT_TRUE(JsonDocument(bytes_of_text(deep)).root().is_array());
}

}  // namespace
}  // namespace tessera::test::tfjs_json_test
