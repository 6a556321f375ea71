// The planes of dma-bufs, and how EGL is told about them.
#include <gmock/gmock.h>

#include "backend_gles/video_memory.h"
#include <tessera/error.h>

namespace tessera::test::gles_dma_buf_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const DmaBuf& frame, ErrorCode code) {
  try {
    images_of("op", frame);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "none";
}

TEST(DmaBufs, HaveAnImageForEachPlane) {
  const std::vector<DmaBufImage> nv12 =
      images_of("op", {641, 363, fourcc("NV12"), {{3, 0, 704}, {4, 255552, 704}}, 0x0100000000000002});
  ASSERT_EQ(nv12.size(), 2u);
  EXPECT_EQ(letters_of(nv12[0].fourcc), "R8  ");
  EXPECT_EQ(nv12[0].width, 641);
  EXPECT_EQ(nv12[0].height, 363);
  EXPECT_EQ(nv12[0].channels, "R");
  EXPECT_EQ(letters_of(nv12[1].fourcc), "GR88");
  EXPECT_EQ(nv12[1].width, 321);
  EXPECT_EQ(nv12[1].height, 182);
  EXPECT_EQ(nv12[1].channels, "RG");
  EXPECT_THAT(gles::attributes_of(nv12[1]), ElementsAre(0x3057, 321, 0x3056, 182, 0x3271, 0x38385247, 0x3272, 4, 0x3273,
                                                        255552, 0x3274, 704, 0x3443, 2, 0x3444, 0x01000000, 0x3038));

  DmaBufImage compressed = nv12[1];  // with a plane of its own for how
  compressed.planes.push_back({4, 4096, 64});
  const std::vector<std::int32_t> both = gles::attributes_of(compressed);
  EXPECT_THAT(std::vector(both.begin() + 16, both.end()),
              ElementsAre(0x3275, 4, 0x3276, 4096, 0x3277, 64, 0x3445, 2, 0x3446, 0x01000000, 0x3038));

  const std::vector<DmaBufImage> p010 = images_of("op", {64, 32, fourcc("P010"), {{3, 0, 128}, {3, 4096, 128}}});
  EXPECT_EQ(letters_of(p010[0].fourcc), "R16 ");
  EXPECT_EQ(letters_of(p010[1].fourcc), "GR32");
  EXPECT_THAT(gles::attributes_of(p010[0]),
              ElementsAre(0x3057, 64, 0x3056, 32, 0x3271, 0x20363152, 0x3272, 3, 0x3273, 0, 0x3274, 128, 0x3038));
  EXPECT_EQ(images_of("op", {64, 32, fourcc("NV16"), {{3, 0, 64}, {3, 2048, 64}}})[1].height, 32);
  EXPECT_EQ(images_of("op", {64, 32, fourcc("NV21"), {{3, 0, 64}, {3, 2048, 64}}})[1].channels, "GR");
  EXPECT_EQ(images_of("op", {64, 32, fourcc("YU12"), {{3, 0, 64}, {3, 2048, 32}, {3, 2560, 32}}}).size(), 3u);
  EXPECT_EQ(images_of("op", {64, 32, fourcc("XR24"), {{3, 0, 256}}})[0].channels, "RGB");
  EXPECT_EQ(images_of("op", {64, 32, fourcc("R8"), {{3, 0, 64}}}).size(), 1u);
}

TEST(DmaBufs, ThatCannotBeAreRefused) {
  constexpr ErrorCode invalid = ErrorCode::invalid_argument;
  EXPECT_THAT(refusal({64, 32, fourcc("YUYV"), {{3, 0, 128}}}, ErrorCode::unsupported),
              ::testing::AllOf(HasSubstr("op: "), HasSubstr("YUYV"), HasSubstr("NV12")));
  EXPECT_THAT(refusal({64, 32, 7, {{3, 0, 128}}}, ErrorCode::unsupported), HasSubstr("format 7"));
  EXPECT_THAT(refusal({64, 32, fourcc("NV12"), {{3, 0, 64}}}, invalid), HasSubstr("2 planes; it has been given 1"));
  EXPECT_THAT(refusal({0, 32, fourcc("R8"), {{3, 0, 64}}}, invalid), HasSubstr("0 x 32"));
  EXPECT_THAT(refusal({64, 32, fourcc("P010"), {{3, 0, 64}, {3, 2048, 128}}}, invalid),
              HasSubstr("stride of 64 bytes; a row of 64 pixels takes 128"));
  EXPECT_THAT(refusal({64, 32, fourcc("NV12"), {{3, 0, 64}, {-1, 2048, 64}}}, invalid),
              HasSubstr("plane 1 has no file descriptor"));
}

}  // namespace
}  // namespace tessera::test::gles_dma_buf_test
