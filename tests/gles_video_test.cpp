// gles::from_egl_image and gles::from_dma_buf.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <span>

#include "support/gles_host.h"
#include <tessera/video_memory.h>

namespace tessera::test::gles_video_test {
namespace {

using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class GlesVideo : public OnGlesHost {
 protected:
  bool has_egl_extension(const std::string& name) {
    const char* text = host().find<PFNEGLQUERYSTRINGPROC>("eglQueryString")(host().display(), EGL_EXTENSIONS);
    return (" " + std::string(text ? text : "") + " ").find(" " + name + " ") != std::string::npos;
  }

  EGLImage image_of(GLuint texture) {
    using Create = EGLImage (*)(EGLDisplay, EGLContext, EGLenum, EGLClientBuffer, const EGLint*);
    return host().find<Create>("eglCreateImageKHR")(host().display(), host().handle(), EGL_GL_TEXTURE_2D,
                                                    reinterpret_cast<EGLClientBuffer>(std::uintptr_t{texture}),
                                                    nullptr);
  }
  void destroy(EGLImage image) {
    host().find<EGLBoolean (*)(EGLDisplay, EGLImage)>("eglDestroyImageKHR")(host().display(), image);
  }
};

const std::vector<std::uint8_t> six_pixels{0, 1,  2,  3,   40, 50,  60,  70,  255, 254, 253, 252,
                                           9, 99, 19, 199, 29, 129, 100, 200, 0,   255, 0,   255};

TEST_P(GlesVideo, EglImagesAreReadInPlace) {
  if (!has_egl_extension("EGL_KHR_gl_texture_2D_image")) GTEST_SKIP() << "the driver makes no EGLImage of a texture";
  const GLuint texture = host().texture(GL_RGBA8, 3, 2, GL_RGBA, GL_UNSIGNED_BYTE, six_pixels.data());
  const EGLImage image = image_of(texture);
  ASSERT_NE(image, EGL_NO_IMAGE);
  const Tensor bytes = gles::from_egl_image(gpu(), {.image = image, .width = 3, .height = 2, .dtype = DType::u8});
  const Tensor blue = gles::from_egl_image(gpu(), {.image = image, .width = 3, .height = 2, .channels = "B"}) * 255.0f;
  destroy(image);
  EXPECT_EQ(bytes.shape(), (Shape{2, 3, 4}));
  const Tensor later = bytes.cast(DType::i32);
  EXPECT_THAT(blue.read(), Pointwise(FloatNear(1e-3f), {2, 60, 253, 19, 100, 0}));
  // It is the host's own memory.
  std::vector<std::uint8_t> others(six_pixels.rbegin(), six_pixels.rend());
  gl().BindTexture(GL_TEXTURE_2D, texture);
  gl().TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 3, 2, GL_RGBA, GL_UNSIGNED_BYTE, others.data());
  gl().BindTexture(GL_TEXTURE_2D, 0);
  EXPECT_THAT(later.read<std::int32_t>(), ElementsAreArray(others));
  gl().DeleteTextures(1, &texture);  // the image has its pixels, too
  EXPECT_EQ(bytes.read<std::uint8_t>(), others);
}

TEST_P(GlesVideo, ExternalImagesAreSampledAsSuch) {
  if (!has_egl_extension("EGL_KHR_gl_texture_2D_image") || !gl().OES_EGL_image_external_essl3)
    GTEST_SKIP() << "the driver has no external textures";
  const GLuint texture = host().texture(GL_RGBA8, 3, 2, GL_RGBA, GL_UNSIGNED_BYTE, six_pixels.data());
  const EGLImage image = image_of(texture);
  ASSERT_NE(image, EGL_NO_IMAGE);
  const Tensor pixels =
      gles::from_egl_image(gpu(), {.image = image, .width = 3, .height = 2, .dtype = DType::u8, .is_external = true});
  EXPECT_EQ(pixels.read<std::uint8_t>(), six_pixels);
  destroy(image);
}

TEST_P(GlesVideo, WrongEglImagesAreRefused) {
  int something = 0;
  EXPECT_TESSERA_ERROR(gles::from_egl_image(gpu(), {.width = 3, .height = 2}), invalid_argument, "from_egl_image",
                       "null");
  EXPECT_TESSERA_ERROR(gles::from_egl_image(gpu(), {.image = &something, .width = 0, .height = 2}), invalid_argument,
                       "0 x 2");
  EXPECT_TESSERA_ERROR(gles::from_egl_image(gpu(), {.image = &something, .width = 3, .height = 2, .channels = "Q"}),
                       invalid_argument, "Q");
  EXPECT_TESSERA_ERROR(gles::from_egl_image(gpu(), {.image = &something, .width = 3, .height = 2, .channels = "D"}),
                       unsupported, "\"D\"");
}

// Memory of a file stands in for that of a decoder: Mesa's software driver takes it, where there is no other dma-buf.
class Frame {
 public:
  explicit Frame(std::size_t bytes) : fd(memfd_create("frame", 0)) {
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memory = {static_cast<std::uint8_t*>(mapped), bytes};
    for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::uint8_t>(i * 7 + i / 64);
  }
  ~Frame() {
    munmap(memory.data(), memory.size());
    close(fd);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  std::vector<std::uint8_t> rows(std::size_t offset, std::size_t stride, std::size_t row, std::size_t count) const {
    std::vector<std::uint8_t> bytes;
    for (std::size_t y = 0; y < count; ++y) {
      const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(offset + y * stride);
      bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
    }
    return bytes;
  }

  int fd;
  std::span<std::uint8_t> memory;
};

class GlesDmaBufs : public GlesVideo {
 protected:
  void SetUp() override {
    GlesVideo::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const Frame frame(4096);
    try {
      gles::from_dma_buf(gpu(), {32, 32, fourcc("R8"), {{frame.fd, 0, 64}}});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      const bool is_known = has_egl_extension("EGL_EXT_image_dma_buf_import");
      EXPECT_THAT(error.what(), HasSubstr(is_known ? "takes no dma-buf" : "EGL_EXT_image_dma_buf_import"));
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_P(GlesDmaBufs, PlanesOfNv12AreTensors) {
  const Frame frame(64 * 48);
  const std::vector<Tensor> planes =
      gles::from_dma_buf(gpu(), {60, 32, fourcc("NV12"), {{frame.fd, 0, 64}, {frame.fd, 64 * 32, 64}}}, DType::u8);
  ASSERT_EQ(planes.size(), 2u);
  EXPECT_EQ(planes[0].shape(), (Shape{32, 60, 1}));
  EXPECT_EQ(planes[0].read<std::uint8_t>(), frame.rows(0, 64, 60, 32));
  EXPECT_EQ(planes[1].shape(), (Shape{16, 30, 2}));
  EXPECT_EQ(planes[1].read<std::uint8_t>(), frame.rows(64 * 32, 64, 60, 16));
  const std::vector<float> rgb = nv12_to_rgb(planes[0].reshape({32, 60}), planes[1]).read();
  EXPECT_EQ(rgb.size(), 32u * 60 * 3);
  const std::vector<Tensor> swapped =
      gles::from_dma_buf(gpu(), {60, 32, fourcc("NV21"), {{frame.fd, 0, 64}, {frame.fd, 64 * 32, 64}}}, DType::u8);
  const std::vector<std::uint8_t> chroma = planes[1].read<std::uint8_t>(), other = swapped[1].read<std::uint8_t>();
  for (std::size_t i = 0; i < chroma.size(); ++i) ASSERT_EQ(chroma[i], other[i ^ 1]) << i;
}

TEST_P(GlesDmaBufs, PlanesOfP010AreTensors) {
  const Frame frame(128 * 48);
  std::vector<Tensor> planes;
  try {
    planes = gles::from_dma_buf(gpu(), {60, 32, fourcc("P010"), {{frame.fd, 0, 128}, {frame.fd, 128 * 32, 128}}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    GTEST_SKIP() << error.what();
  }
  for (std::size_t plane = 0; plane < 2; ++plane) {
    const std::vector<std::uint8_t> bytes = frame.rows(plane * 128 * 32, 128, 120, plane == 0 ? 32 : 16);
    const std::vector<float> values = planes[plane].read();
    ASSERT_EQ(values.size() * 2, bytes.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], static_cast<float>(bytes[2 * i] + 256 * bytes[2 * i + 1]) / 65535, 1e-5f) << i;
  }
}

TEST_P(GlesDmaBufs, ColoursAndFramesThatCannotBe) {
  const Frame frame(256 * 16);
  const std::vector<Tensor> planes =
      gles::from_dma_buf(gpu(), {60, 16, fourcc("XR24"), {{frame.fd, 0, 256}}}, DType::u8);
  const std::vector<std::uint8_t> bytes = frame.rows(0, 256, 240, 16), rgb = planes.at(0).read<std::uint8_t>();
  EXPECT_EQ(planes[0].shape(), (Shape{16, 60, 3}));
  for (std::size_t i = 0; i < rgb.size(); ++i) ASSERT_EQ(rgb[i], bytes[i / 3 * 4 + 2 - i % 3]) << i;
  EXPECT_TESSERA_ERROR(gles::from_dma_buf(gpu(), {64, 32, fourcc("NV12"), {{frame.fd, 0, 64}}}), invalid_argument,
                       "gles::from_dma_buf", "2 planes");
  EXPECT_TESSERA_ERROR(gles::from_dma_buf(gpu(), {64, 32, fourcc("YUYV"), {{frame.fd, 0, 128}}}), unsupported, "YUYV");
}

TESSERA_ON_GLES_DEVICES(GlesVideo);
TESSERA_ON_GLES_DEVICES(GlesDmaBufs);

}  // namespace
}  // namespace tessera::test::gles_video_test
