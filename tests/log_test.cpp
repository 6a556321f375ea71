// The log: what a context does, for people, where they ask for it.
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::log_test {
namespace {

using Level = Message::Level;

class Log : public OnDevice {
 protected:
  Context told(ContextOptions options) {
    options.prefer = {GetParam().backend};
    options.driver = GetParam().driver;
    options.on_message = [this](const Message& message) { messages.push_back(message); };
    return Context::create(options);
  }

  // The text of all messages of this level that have all of these parts.
  std::string with(Level level, std::initializer_list<const char*> parts) const {
    std::string found;
    for (const Message& message : messages) {
      bool has_all = message.level == level;
      for (const char* part : parts) has_all = has_all && message.text.find(part) != std::string::npos;
      if (has_all) found += message.text + '\n';
    }
    return found;
  }
  std::string all() const {
    std::string text;
    for (const Message& message : messages) text += message.text + '\n';
    return text;
  }

  std::vector<Message> messages;
};

std::vector<float> matmul_and_reduce(Context& context) {
  const Tensor a = context.full({8, 8}, 0.5f), b = context.full({8, 8}, 2).compute();
  return sum(matmul(a + 1.0f, b), {.axes = {1}}).read();
}

TEST_P(Log, TellsWhatHappensAtLevelDebug) {
  Context context = told({.message_level = Level::debug});
  const std::string name = context.device().name;
  EXPECT_NE(with(Level::debug, {"devices: ", "takes", name.c_str(), "best one"}), "") << all();
  for (const DeviceInfo& other : Context::devices())
    if (other.backend == context.backend() && other.driver != context.device().driver) {
      EXPECT_NE(with(Level::debug, {"devices: ", "passes over", other.driver.c_str()}), "") << all();
    }
  matmul_and_reduce(context);
  EXPECT_NE(with(Level::debug, {"plan: ", "operations in ", "kernel", "bytes"}), "") << all();
  if (context.backend() == BackendKind::cpu) return;  // compiles nothing
  EXPECT_NE(with(Level::debug, {"compile: kernel ", "matmul", " ms", "bytes of text"}), "") << all();
  EXPECT_NE(with(Level::debug, {"compile: kernel ", "reduce"}), "") << all();
  EXPECT_EQ(all().find("void main()"), std::string::npos);

  messages.clear();
  matmul_and_reduce(context);
  EXPECT_EQ(all(), "") << "what is known needs neither a plan nor a compiler";
}

TEST_P(Log, TellsNothingOfThisByDefault) {
  Context context = told({.log_shaders = true});
  matmul_and_reduce(context);
  EXPECT_EQ(all(), "");
}

TEST_P(Log, HasShadersOnRequest) {
  Context context = told({.message_level = Level::debug, .log_shaders = true});
  matmul_and_reduce(context);
  if (context.backend() == BackendKind::cpu) {
    EXPECT_EQ(with(Level::debug, {"compile: "}), "");
    return;
  }
  const char* main = context.backend() == BackendKind::webgpu ? "fn main(" : "void main()";
  EXPECT_NE(with(Level::debug, {"compile: kernel ", "reduce", main}), "") << all();
}

TEST_P(Log, LevelsAboveAreLeftOutToo) {
  Context context = told({.message_level = Level::warning});
  context.switch_backend(BackendKind::cpu);
  EXPECT_EQ(all(), "") << "a switch is information";
}

TEST_P(Log, TellsOfSpillsSwitchesAndRecoveries) {
  Context context = told({.memory_budget = 1200 << 10, .message_level = Level::debug});
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.push_back((context.full({128, 1024}, 1) + static_cast<float>(i)).compute());
  EXPECT_NE(with(Level::debug, {"spill: ", "524288 bytes", "to the host"}), "") << all();
  context.switch_backend(BackendKind::cpu);
  EXPECT_NE(with(Level::info, {"switch_backend: ", "to cpu"}), "") << all();
  context.switch_backend(GetParam().backend, GetParam().driver);
  if (GetParam().backend == BackendKind::cpu) return;
  testing::lose_device(context);
  EXPECT_EQ((tensors[0] * 2.0f).read()[0], 2);
  EXPECT_NE(with(Level::warning, {"was lost", "takes its place"}), "") << all();
}

TESSERA_ON_ALL_DEVICES(Log);

}  // namespace
}  // namespace tessera::test::log_test
