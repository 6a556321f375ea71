// Runs the tests in a page, whose address has GoogleTest's options, and hands the page their results.
#include <emscripten/emscripten.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

// clang-format off
EM_JS(void, tell_results, (const char* json), { tesseraResults(UTF8ToString(json)); });
// clang-format on

int main(int argc, char** argv) {
  constexpr const char* results = "/results.json";
  ::testing::GTEST_FLAG(output) = std::string("json:") + results;
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  std::ifstream file(results);
  tell_results(std::string(std::istreambuf_iterator<char>(file), {}).c_str());
  return status;
}
