// The command `tessera` of the samples, as one types it.
#include <gmock/gmock.h>
#ifdef TESSERA_SAMPLES

#include "support/pictures.h"
#include "support/running.h"
#include "tests/models/onnx_writer.h"

namespace tessera::test::command_test {
namespace {

using onnx::Type;
using ::testing::AllOf;
using ::testing::HasSubstr;

// 1 - image, of any size.
void write_inverting(const std::filesystem::path& path) {
  const GraphParts parts{.nodes = {node_message("Sub", {"one", "image"}, {"inverted"})},
                         .initializers = {tensor_message("one", Type::float32, {1}, std::vector<float>{1})},
                         .inputs = {value_message("image", Type::float32, {"1", "3", "height", "width"})},
                         .outputs = {value_message("inverted", Type::float32, {"1", "3", "height", "width"})}};
  write_bytes(path, model_message(parts).text());
}

const std::vector<std::string> backends{"cpu",
#ifdef TESSERA_HAS_WEBGPU
                                        "webgpu",
#endif
#ifdef TESSERA_HAS_GLES
                                        "gles"
#endif
};

struct Ended {
  int code;
  std::string printed, errors;
};
Ended run(std::vector<std::string> arguments) {
  Running running("tessera", std::move(arguments), {});
  const int code = running.wait();
  return {code, running.printed(), running.errors()};
}

class Command : public ::testing::Test {
 protected:
  Command() { write_inverting(folder / "inverting.onnx"); }
  std::string file(const std::string& name) const { return (folder / name).string(); }

  const TemporaryFolder folder;
  const std::string model = file("inverting.onnx");
  const std::string picture = (std::filesystem::path(TESSERA_SAMPLES_SOURCES) / "support/engine_frame.png").string();
};

TEST_F(Command, PicturesGoInAndComeOut) {
  const Picture before = load(picture);
  for (const std::string& backend : backends) {
    const Ended ended =
        run({"run", model, "--input", picture, "--out", file(backend + ".png"), "--backend", backend, "--runs", "1"});
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_THAT(ended.printed, AllOf(HasSubstr("output inverted [1,3,192,256]"), HasSubstr("the median of 1 runs")));
    const Picture after = load(file(backend + ".png"));
    ASSERT_EQ(after.rgb.size(), before.rgb.size());
    for (std::size_t i = 0; i < before.rgb.size(); ++i) ASSERT_EQ(after.rgb[i], 255 - before.rgb[i]) << backend;
  }
}

TEST_F(Command, FilesOfNumbersComeBackAsTheyWere) {
  EXPECT_EQ(run({"run", model, "--size", "height=2", "--size", "width=5", "--out", file("once"), "--runs", "1"}).code,
            0);
  const std::string once = file("once") + "/inverted.npy";
  EXPECT_EQ(run({"run", model, "--input", "image=" + once, "--out", file("twice"), "--runs", "1"}).code, 0);
  EXPECT_EQ(
      run({"run", model, "--input", file("twice") + "/inverted.npy", "--out", file("thrice"), "--runs", "1"}).code, 0);
  EXPECT_EQ(bytes_of(once), bytes_of(file("thrice") + "/inverted.npy"));
  EXPECT_NE(bytes_of(once), bytes_of(file("twice") + "/inverted.npy"));
}

TEST_F(Command, ChecksDevicesAndKeepsWhatDiffers) {
  const std::string& backend = backends.back();
  if (backend == "cpu") GTEST_SKIP() << "There is no device to compare with the CPU.";
  const Ended agrees = run({"run", model, "--check", "--backend", backend});
  EXPECT_EQ(agrees.code, 0) << agrees.errors;
  EXPECT_THAT(agrees.printed, HasSubstr("agrees, 0 apart"));
  const Ended differs =
      run({"run", model, "--check", "--backend", backend, "--tolerance", "-1", "--out", file("kept")});
  EXPECT_EQ(differs.code, 1);
  EXPECT_THAT(differs.printed, HasSubstr("DIFFERS"));
  const std::filesystem::path kept = folder / ("kept/tessera_repro_" + backend);
  for (const char* part : {"README.txt", "inputs/image.npy", "result/inverted.npy", "expected/inverted.npy"})
    EXPECT_TRUE(std::filesystem::exists(kept / part)) << part;
}

TEST_F(Command, ExplainsEachNode) {
  const Ended ended = run({"explain", model, "--size", "height=4"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_THAT(ended.printed, AllOf(HasSubstr("input  image: float [1,3,height,width]"), HasSubstr("Sub '"),
                                   HasSubstr("[1,3,4,1]"), HasSubstr("#1 sub"), HasSubstr("kernel\n")));
}

TEST_F(Command, SaysWhatIsWrong) {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 1);
    return ended.errors;
  };
  write_bytes(folder / "other.npy", "nothing");
  EXPECT_THAT(error_of({"walk", model}), HasSubstr("'run' or 'explain'"));
  EXPECT_THAT(error_of({"run", file("none.onnx")}), HasSubstr("none.onnx"));
  EXPECT_THAT(error_of({"run", model, "--input", "sound=" + picture}), HasSubstr("no input 'sound'"));
  EXPECT_THAT(error_of({"run", model, "--input", file("none.png")}), HasSubstr("none.png"));
  EXPECT_THAT(error_of({"run", model, "--input", file("other.npy")}), HasSubstr("it is no .npy file"));
  EXPECT_THAT(error_of({"run", model, "--backend", "cuda"}), HasSubstr("no backend 'cuda'"));
  EXPECT_THAT(error_of({"run", model, "--size", "height"}), HasSubstr("NAME=N"));
}

}  // namespace
}  // namespace tessera::test::command_test
#endif
