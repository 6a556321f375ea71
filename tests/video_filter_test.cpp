// The filters of samples/video_filter: every device gives the same pictures, and later frames cost no more than
// the first ones.
#include <gtest/gtest.h>
#ifdef TESSERA_VIDEO_FILTER

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "pipeline.h"
#include "source.h"
#include "support/commit.h"
#include "support/compare.h"
#include "support/devices.h"
#include "support/options.h"
#include "support/temporary_folder.h"

namespace tessera::test::video_filter_test {
namespace {

using video::Frame, video::FramePtr, video::Pipeline, video::Recent, video::Size;
using Pixels = std::vector<std::uint8_t>;

FramePtr scene_frame(int number) { return std::make_shared<Frame>(Frame{.number = number}); }

// Every value of each plane, in some order.
FramePtr decoded_frame(Frame::Layout layout, Size size, int number) {
  Frame frame{.layout = layout, .number = number, .size = size};
  const auto fill = [&](std::size_t plane, int elements) {
    for (int i = 0; i < elements; ++i)
      frame.planes[plane].push_back(static_cast<std::uint8_t>((i * 37 + i / 9 * 5 + number * 11) % 256));
  };
  const int chroma = ((size.width + 1) / 2) * ((size.height + 1) / 2);
  fill(0, size.width * size.height * (layout == Frame::Layout::rgb ? 3 : 1));
  if (layout == Frame::Layout::nv12) fill(1, chroma * 2);
  if (layout == Frame::Layout::yuv420) {
    fill(1, chroma);
    fill(2, chroma);
  }
  return std::make_shared<Frame>(std::move(frame));
}

// As u8, in one submission with what is kept.
Tensor submitted(Context& context, video::Filtered filtered) {
  filtered.image = to_u8(filtered.image);
  context.compute(filtered.all());
  return filtered.image;
}

Pixels rendered(Context& context, Size size, const std::string& filters, const std::vector<FramePtr>& frames) {
  Pipeline pipeline(context, size, video::parse_filters(filters));
  Tensor image;
  for (const FramePtr& frame : frames) image = submitted(context, pipeline(frame));
  return image.read<std::uint8_t>();
}

constexpr int tolerance = 2;  // of 255, at every pixel

void expect_like_the_cpu(Context& context, Size size, const std::string& filters, const std::vector<FramePtr>& frames) {
  static std::map<std::string, Pixels> by_the_cpu;  // which is slow
  Pixels& want = by_the_cpu[filters + " of " + std::to_string(static_cast<int>(frames[0]->layout)) + " " +
                            std::to_string(size.width)];
  if (want.empty()) want = rendered(cpu_context(), size, filters, frames);
  const Pixels got = rendered(context, size, filters, frames);
  ASSERT_EQ(got.size(), want.size());
  const int larger = video::enlarges(video::parse_filters(filters));
  ASSERT_EQ(got.size(), static_cast<std::size_t>(size.width * larger * size.height * larger * 3));
  int largest = 0, beyond = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const int difference = std::abs(got[i] - want[i]);
    largest = std::max(largest, difference);
    beyond += difference > tolerance;
  }
  EXPECT_EQ(beyond, 0) << filters << " differs by " << largest << "/255 at most";
}

class VideoFilter : public OnDevice {};

TEST_P(VideoFilter, EveryFilterIsLikeTheCpus) {
  std::vector<FramePtr> frames;
  for (int number = 40; number < 46; ++number) frames.push_back(scene_frame(number));
  ::setenv("VIDEO_FILTER_MODELS", "/nowhere", 1);  // networks of others take their time, on the CPU above all
  for (const video::FilterEntry& filter : video::filters())
    expect_like_the_cpu(context(), {67, 45}, filter.name, frames);
  ::unsetenv("VIDEO_FILTER_MODELS");
  for (const char* chain : {"blur,sobel", "grain,denoise,denoise", "pixelate,network,vignette"})
    expect_like_the_cpu(context(), {64, 36}, chain, frames);
}

TEST_P(VideoFilter, EveryFrameLayoutIsLikeTheCpus) {
  for (const Frame::Layout layout : {Frame::Layout::rgb, Frame::Layout::nv12, Frame::Layout::yuv420})
    for (const Size size : {Size{33, 21}, Size{32, 18}})
      expect_like_the_cpu(
          context(), size, "denoise",
          {decoded_frame(layout, size, 1), decoded_frame(layout, size, 2), decoded_frame(layout, size, 3)});
}

// As after a switch of the backend, or a loss: another pipeline, which sees only the frames that are kept.
TEST_P(VideoFilter, AnotherPipelineTakesOver) {
  std::vector<FramePtr> frames;
  Recent recent;
  for (int number = 0; number < 24; ++number) {
    frames.push_back(scene_frame(number));
    recent.add(frames.back());
  }
  const Size size{48, 27};
  Pipeline other(context(), size, video::parse_filters("grain,denoise"));
  EXPECT_EQ(to_u8(other.replay(recent).image).read<std::uint8_t>(), rendered(context(), size, "grain,denoise", frames));
}

// Of a small size, or a thousand of $VIDEO_FILTER_TEST_SIZE (1280x720).
TEST_P(VideoFilter, LaterFramesCostNoMoreThanTheFirst) {
  const char* wanted = std::getenv("VIDEO_FILTER_TEST_SIZE");
  const Size size = sample::parse_size(wanted ? wanted : "64x36");
  Context gpu = open(GetParam());
  Pipeline pipeline(gpu, size, video::parse_filters("denoise,sobel"));
  const auto render = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      submitted(gpu, pipeline(scene_frame(i)));
      if (i % 10 == 9) gpu.wait();
    }
  };
  constexpr int first_frames = 30;
  const int all_frames = wanted ? 1000 : 60;
  render(0, first_frames);
  gpu.reset_stats();
  const MemoryInfo before = gpu.memory();
  render(first_frames, all_frames);
  const MemoryInfo after = gpu.memory();
  const Stats stats = gpu.stats();
  EXPECT_EQ(stats.submits, static_cast<std::uint64_t>(all_frames - first_frames));
  EXPECT_EQ(stats.kernels_compiled, 0u);
  EXPECT_EQ(stats.bytes_downloaded, 0u);
  EXPECT_EQ(stats.bytes_uploaded, 0u);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_LE(after.bytes_pooled, before.bytes_pooled);
  EXPECT_EQ(after.num_tensors, before.num_tensors);
}

TEST_P(VideoFilter, TheSecondStartCompilesNothing) {
  const TemporaryFolder cache;
  Pixels pixels[2];
  for (const bool is_second : {false, true}) {
    Context gpu =
        Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .cache_dir = cache.path()});
    pixels[is_second] = rendered(gpu, {64, 36}, "grain,denoise", {scene_frame(0), scene_frame(1)});
    EXPECT_EQ(gpu.stats().kernels_compiled == 0, is_second);
    EXPECT_EQ(gpu.stats().kernels_from_cache > 0, is_second);
  }
  EXPECT_EQ(pixels[0], pixels[1]);
}

TESSERA_ON_EACH_GPU_BACKEND(VideoFilter);

// On a device of the commit: real_models_test has the networks themselves on all of them.
Context& context_of_the_commit() {
  std::vector<TestDevice> devices = gpu_devices();
  std::erase_if(devices, [](const TestDevice& device) {
    return is_left_out(device) || std::string_view(device.name).find("swiftshader") != std::string_view::npos;
  });
  return shared_context(devices.at(hash_of(commit() + "networks") % devices.size()));
}

TEST(VideoFilterNetworks, KeepPeopleSharpAndBlurTheRest) {
  if (!std::filesystem::exists(TESSERA_SAMPLE_MODELS_FOLDER "/stamp")) GTEST_SKIP() << "the networks were not fetched";
  const FramePtr frame = video::open_source(TESSERA_SAMPLES_SOURCES "/../docs/portrait.png", 0)->next();
  const Pixels before = frame->planes[0], after = rendered(context_of_the_commit(), frame->size, "background", {frame});
  ASSERT_EQ(before.size(), after.size());
  const auto change_in = [&](Size corner, Size size) {  // the largest one
    int largest = 0;
    for (int y = corner.height; y < corner.height + size.height; ++y)
      for (int x = corner.width * 3; x < (corner.width + size.width) * 3; ++x) {
        const auto at = static_cast<std::size_t>(y * frame->size.width * 3 + x);
        largest = std::max(largest, std::abs(before[at] - after[at]));
      }
    return largest;
  };
  EXPECT_LE(change_in({220, 118}, {40, 40}), 16);   // the face
  EXPECT_LE(change_in({200, 215}, {80, 50}), 16);   // the shoulders
  EXPECT_GE(change_in({20, 40}, {130, 130}), 40);   // the shelves
  EXPECT_GE(change_in({340, 30}, {115, 120}), 40);  // the window
}

TEST(VideoFilterNetworks, EnlargePictures) {
  if (!std::filesystem::exists(TESSERA_SAMPLE_MODELS_FOLDER "/stamp")) GTEST_SKIP() << "the networks were not fetched";
  Context& gpu = context_of_the_commit();
  const Size size{32, 18};
  const Pixels large = rendered(gpu, size, "upscale", {scene_frame(30)});
  Pipeline pipeline(gpu, size, {"none"});
  const Pixels plain = to_u8(resize_bilinear(pipeline(scene_frame(30)).image, 36, 64)).read<std::uint8_t>();
  ASSERT_EQ(large.size(), plain.size());
  double total = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) total += std::abs(large[i] - plain[i]);
  EXPECT_LT(total / static_cast<double>(plain.size()), 8);    // the same picture,
  EXPECT_GT(total / static_cast<double>(plain.size()), 0.5);  // but not in the same way:
  const auto sharpness = [&](const Pixels& pixels) {
    double squares = 0;
    for (std::size_t i = 3; i < pixels.size(); ++i) squares += std::pow(pixels[i] - pixels[i - 3], 2);
    return squares;
  };
  EXPECT_GT(sharpness(large), 1.1 * sharpness(plain));
}

TEST(Fitting, KeepsTheShapeOfThePicture) {
  const Tensor white = cpu_context().full({10, 20, 3}, 1);
  const std::vector<float> shown = video::fitted(white, {40, 40}).read();
  ASSERT_EQ(shown.size(), 40u * 40 * 3);
  for (std::size_t y = 0; y < 40; ++y) EXPECT_EQ(shown[y * 120 + 60], y >= 10 && y < 30 ? 1 : 0) << y;
}

TEST(FilterNames, AreCheckedAndChain) {
  EXPECT_EQ(video::parse_filters("blur,sobel"), (std::vector<std::string>{"blur", "sobel"}));
  for (const char* wrong : {"", "blur,", "blurr", "blur,,sobel"})
    EXPECT_THROW(video::parse_filters(wrong), std::runtime_error);
}

}  // namespace
}  // namespace tessera::test::video_filter_test
#else
TEST(VideoFilter, WasBuilt) { GTEST_SKIP() << "the sample video_filter is not part of this build"; }
#endif
