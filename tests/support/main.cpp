// Runs the tests of the files that it is given, or without any those of all files, on top of GoogleTest's own options:
//   tessera_tests reduce_test.cpp --gtest_filter='*cpu'
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

namespace {

void visit_tests(const auto& visitor) {
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) visitor(*suite.GetTestInfo(j));
  }
}

// GoogleTest's filter without the tests of other files.
std::string filter_of_files(const std::set<std::string>& files, std::string filter) {
  char separator = filter.find('-') == std::string::npos ? '-' : ':';
  visit_tests([&](const ::testing::TestInfo& test) {
    if (files.contains(std::filesystem::path(test.file()).filename().string())) return;
    filter.append(1, separator).append(test.test_suite_name()).append(1, '.').append(test.name());
    separator = ':';
  });
  return filter;
}

bool each_has_tests(std::set<std::string> files) {
  visit_tests(
      [&](const ::testing::TestInfo& test) { files.erase(std::filesystem::path(test.file()).filename().string()); });
  for (const std::string& file : files) std::fprintf(stderr, "There is no test of a file %s here.\n", file.c_str());
  return files.empty();
}

// GoogleTest prints its filter after it has used it: the names of thousands of tests are not worth reading.
class FilterToPrint : public ::testing::EmptyTestEventListener {
 public:
  explicit FilterToPrint(std::string filter) : filter_(std::move(filter)) {}
  void OnTestProgramStart(const ::testing::UnitTest&) override { GTEST_FLAG_SET(filter, filter_); }

 private:
  std::string filter_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::set<std::string> files(argv + 1, argv + argc);
  if (!files.empty()) {
    if (!each_has_tests(files)) return 1;
    const std::string filter = GTEST_FLAG_GET(filter);
    ::testing::UnitTest::GetInstance()->listeners().Append(new FilterToPrint(filter));
    GTEST_FLAG_SET(filter, filter_of_files(files, filter));
  }
  return RUN_ALL_TESTS();
}
