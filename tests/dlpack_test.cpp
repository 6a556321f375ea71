// DLPack: structs of the published ABI, as another library would fill and read them.
#include <cstring>

#include "core/interop/dlpack_abi.h"
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/dlpack.h>

namespace tessera::test::dlpack_test {
namespace {

class DlPack : public OnDevice {};

// A tensor of another library's: counts the calls of its deleter.
struct Foreign {
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;
  DLManagedTensorVersioned managed{};

  Foreign(void* data, std::vector<std::int64_t> dims, DLDataType type, std::vector<std::int64_t> steps = {})
      : shape(std::move(dims)), strides(std::move(steps)) {
    managed = {.version = {1, 0},
               .manager_ctx = this,
               .deleter = [](DLManagedTensorVersioned* own) { ++static_cast<Foreign*>(own->manager_ctx)->deleted; },
               .flags = 0,
               .dl_tensor = {data,
                             {kDLCPU, 0},
                             static_cast<std::int32_t>(shape.size()),
                             type,
                             shape.data(),
                             strides.empty() ? nullptr : strides.data(),
                             0}};
  }
};

TEST_P(DlPack, EveryTypeGoesThereAndBack) {
  const Tensor x = context().tensor({2, 3}, {1, 0, 3, 4, 5, 6});
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    const Tensor sent = slice(x.cast(dtype), {1, 0}, {1, 3});
    DLManagedTensorVersioned* managed = to_dlpack(sent);
    EXPECT_EQ(managed->version.major, 1u);
    EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCPU);
    EXPECT_EQ(managed->dl_tensor.ndim, 2);
    EXPECT_EQ(managed->dl_tensor.shape[1], 3);
    EXPECT_EQ(managed->dl_tensor.dtype.bits, 8 * size_of(dtype));
    const Tensor back = from_dlpack(context(), managed);  // which takes it over
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{1, 3}));
    EXPECT_EQ(back.read(), sent.read());
  }
}

TEST_P(DlPack, TheTakerDecidesHowLongTheElementsLive) {
  DLManagedTensorVersioned* managed = nullptr;
  {
    const Tensor x = context().tensor({3}, {1, 2, 3}) * 2.0f;
    managed = to_dlpack(x);
  }
  float values[3];
  std::memcpy(values, managed->dl_tensor.data, sizeof values);
  EXPECT_EQ(values[2], 6);
  managed->deleter(managed);
}

TEST_P(DlPack, StridesOfHostMemoryAreFollowed) {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  Foreign transposed(values.data(), {3, 2}, {kDLFloat, 32, 1}, {1, 3});
  EXPECT_EQ(from_dlpack(context(), &transposed.managed).read(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(transposed.deleted, 1);
  Foreign backwards(values.data() + 5, {6}, {kDLFloat, 32, 1}, {-1});
  EXPECT_EQ(from_dlpack(context(), &backwards.managed).read(), (std::vector<float>{5, 4, 3, 2, 1, 0}));
  Foreign later(values.data(), {2}, {kDLFloat, 32, 1});
  later.managed.dl_tensor.byte_offset = 8;
  EXPECT_EQ(from_dlpack(context(), &later.managed).read(), (std::vector<float>{2, 3}));
}

TEST_P(DlPack, WhatIsRefusedStaysTheCallers) {
  std::vector<float> values(4);
  const auto refused = [&](auto change, ErrorCode code, const char* part) {
    Foreign foreign(values.data(), {4}, {kDLFloat, 32, 1});
    change(foreign.managed);
    expect_error([&] { from_dlpack(context(), &foreign.managed); }, code, {part}, "from_dlpack");
    EXPECT_EQ(foreign.deleted, 0);
  };
  refused([](auto& m) { m.version.major = 2; }, ErrorCode::unsupported, "2.0");
  refused([](auto& m) { m.dl_tensor.dtype.bits = 64; }, ErrorCode::dtype_mismatch, "64 bits");
  refused([](auto& m) { m.dl_tensor.dtype.lanes = 4; }, ErrorCode::dtype_mismatch, "4 lanes");
  refused([](auto& m) { m.dl_tensor.ndim = 99; }, ErrorCode::invalid_argument, "99");
  refused([](auto& m) { m.dl_tensor.shape[0] = -1; }, ErrorCode::invalid_argument, "-1");
  refused([](auto& m) { m.dl_tensor.data = nullptr; }, ErrorCode::invalid_argument, "null");
  refused([](auto& m) { m.dl_tensor.device.device_type = 2; }, ErrorCode::unsupported, "type 2");
  refused([](auto& m) { m.dl_tensor.shape[0] = std::int64_t{1} << 62; }, ErrorCode::out_of_memory,
          "4611686018427387904");
  EXPECT_TESSERA_ERROR(from_dlpack(context(), static_cast<DLManagedTensorVersioned*>(nullptr)), invalid_argument,
                       "null");
}

// The product of two sizes of an empty tensor, and the distance of an element, may be more than 64 bits hold.
TEST_P(DlPack, SizesAndStridesThatDoNotFitAreRefused) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  float value = 0;
  Foreign empty(&value, {0, huge, huge}, {kDLFloat, 32, 1}, {0, 1, 1});
  EXPECT_TESSERA_ERROR(from_dlpack(context(), &empty.managed), out_of_memory, "4611686018427387904", "2147483647");
  for (const std::int64_t stride : {huge, -huge, INT64_MIN, INT64_MAX}) {
    Foreign far(&value, {2, 2}, {kDLFloat, 32, 1}, {stride, 1});
    EXPECT_TESSERA_ERROR(from_dlpack(context(), &far.managed), invalid_argument, "from_dlpack",
                         std::to_string(stride).c_str());
  }
  Foreign single(&value, {1, 1}, {kDLFloat, 32, 1}, {huge, INT64_MIN});  // strides that nothing is multiplied by
  EXPECT_EQ(from_dlpack(context(), &single.managed).read(), std::vector<float>{0});
}

TEST_P(DlPack, BuffersOfWebGpuAreLentWithoutACopy) {
  const Tensor x = slice((context().tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}) * 2.0f), {1, 0}, {1, 4});
  if (GetParam().backend != BackendKind::webgpu) {
    EXPECT_TESSERA_ERROR(webgpu::to_dlpack(x), wrong_backend, "webgpu");
    return;
  }
  context().reset_stats();
  DLManagedTensorVersioned* managed = webgpu::to_dlpack(x);
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLWebGPU);
  EXPECT_EQ(managed->dl_tensor.byte_offset, 16u);
  Tensor same = from_dlpack(context(), managed);
  EXPECT_GT(context().memory().bytes_external, 0u);
  EXPECT_EQ(context().stats().bytes_downloaded, 0u);
  EXPECT_EQ((same + 1.0f).read(), (std::vector<float>{11, 13, 15, 17}));
  same.dispose();
  context().trim();  // lets go of what was lent
  EXPECT_EQ(context().memory().bytes_external, 0u);
}

TESSERA_ON_ALL_DEVICES(DlPack);

}  // namespace
}  // namespace tessera::test::dlpack_test
