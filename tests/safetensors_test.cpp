// Files as the format's definition has them, made here byte by byte; and files that do not keep to it.
#include <tessera/safetensors.h>

#ifndef _WIN32
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#endif

#include <cmath>
#include <cstring>
#include <limits>

#include "support/commit.h"
#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include "support/without_roots_rights.h"
#include "tests/models/mutations.h"

namespace tessera::test::safetensors_test {
namespace {

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The length of the header in 8 bytes, little-endian; the header; the data.
std::string file_of(const std::string& header, const std::string& data) {
  std::string length;
  for (std::size_t i = 0, rest = header.size(); i < 8; ++i, rest >>= 8) length += static_cast<char>(rest & 255);
  return length + header + data;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

class SafetensorsFiles : public ::testing::Test {
 protected:
  Context& context() { return shared_context(all_devices().front()); }
  Safetensors load(const std::string& bytes) {
    write_bytes(path_, bytes);
    return load_safetensors(context(), path_);
  }
  Safetensors load(const std::string& header, const std::string& data) { return load(file_of(header, data)); }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "model.safetensors";
};

class SafetensorsOn : public OnDevice {};

TEST_F(SafetensorsFiles, AreWrittenAsTheFormatSays) {
  save_safetensors(path_,
                   {{"small", context().tensor({3}, std::vector<std::uint8_t>{1, 2, 255})},
                    {"b", context().tensor({1, 2}, {1.5f, -2})},
                    {"a", context().tensor({}, std::vector<std::int32_t>{-7})},
                    {"empty", context().zeros({0, 4})},
                    {"half", context().tensor({1}, std::vector{half(1.0f)})}},
                   {{"format", "pt"}});
  std::string header = R"({"__metadata__":{"format":"pt"},)"
                       R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},)"
                       R"("empty":{"dtype":"F32","shape":[0,4],"data_offsets":[12,12]},)"
                       R"("half":{"dtype":"F16","shape":[1],"data_offsets":[12,14]},)"
                       R"("small":{"dtype":"U8","shape":[3],"data_offsets":[14,17]}})";
  while (header.size() % 8 != 0) header += ' ';
  const std::string data = raw(std::vector<std::int32_t>{-7}) + raw(std::vector<float>{1.5f, -2}) +
                           raw(std::vector<std::uint16_t>{0x3c00}) + raw(std::vector<std::uint8_t>{1, 2, 255});
  EXPECT_EQ(bytes_of(path_), file_of(header, data));
}

TEST_F(SafetensorsFiles, AreReadAsTheFormatSays) {
  // Out of order, with white space, escapes, padding and a type at an odd address.
  const std::string header = R"({ "z\u00e9/\n\"" : {"shape":[2 , 1], "dtype":"F32", "data_offsets":[1,9]},
    "__metadata__":{"by":"hand", "":""}, "a":{"data_offsets":[0,1],"dtype":"I8","shape":[1]}, "":)" +
                             entry("F32", "[3,0]", "[9,9]") + "}    ";
  const Safetensors file = load(header, raw(std::vector<std::int8_t>{-5}) + raw(std::vector<float>{0.25f, 3}));
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"by", "hand"}, {"", ""}}));
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors.at("a").read<std::int8_t>(), std::vector<std::int8_t>{-5});
  const Tensor& z = file.tensors.at("z\u00e9/\n\"");
  EXPECT_EQ(z.shape(), Shape({2, 1}));
  EXPECT_EQ(z.read(), (std::vector<float>{0.25f, 3}));
  EXPECT_EQ(file.tensors.at("").shape(), Shape({3, 0}));
}

TEST_F(SafetensorsFiles, WithoutTensors) {
  EXPECT_TRUE(load("{}", "").tensors.empty());
  save_safetensors(path_, {});
  EXPECT_EQ(bytes_of(path_), file_of("{}      ", ""));
}

TEST_F(SafetensorsFiles, OtherTypesAreConvertedWhereThatIsExact) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  Tensor x = load(R"({"x":)" + entry("BF16", "[4]", "[0,8]") + "}",
                  raw(std::vector<std::uint16_t>{0x3f80, 0xc040, 0x7f80, 0x0001}))
                 .tensors.at("x");
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(x.read(), (std::vector<float>{1, -3, inf, std::ldexp(1.0f, -133)}));

  x = load(R"({"x":)" + entry("F64", "[5]", "[0,40]") + "}",
           raw(std::vector<double>{0.5, -16777216, std::numeric_limits<double>::infinity(), nan, -0.0}))
          .tensors.at("x");
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_TRUE(all_agree(x.read(), {0.5f, -16777216, inf, nan, 0}, 0));

  x = load(R"({"x":)" + entry("I64", "[2]", "[0,16]") + "}",
           raw(std::vector<std::int64_t>{std::numeric_limits<std::int32_t>::min(), 2147483647}))
          .tensors.at("x");
  EXPECT_EQ(x.read<std::int32_t>(), (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 2147483647}));

  x = load(R"({"x":)" + entry("BOOL", "[3]", "[0,3]") + "}", std::string("\0\1\5", 3)).tensors.at("x");
  EXPECT_EQ(x.read<bool>(), (std::vector<bool>{false, true, true}));
}

TEST_F(SafetensorsFiles, OtherTypesAreRefusedWhereItIsNot) {
  const std::string f64 = R"({"x":)" + entry("F64", "[2]", "[0,16]") + "}";
  const std::string i64 = R"({"x":)" + entry("I64", "[1]", "[0,8]") + "}";
  EXPECT_TESSERA_ERROR(load(f64, raw(std::vector<double>{1, 0.1})), unsupported, "\"x\"", "element 1", "F64", "f32");
  EXPECT_TESSERA_ERROR(load(f64, raw(std::vector<double>{1e300, 1})), unsupported, "element 0");
  EXPECT_TESSERA_ERROR(load(i64, raw(std::vector<std::int64_t>{2147483648})), unsupported, "2147483648", "i32");
  for (const char* dtype : {"U16", "I16", "U32", "U64", "F8_E4M3", "F8_E5M2", "C64", "f32", "", "F32 "})
    EXPECT_TESSERA_ERROR(load(R"({"x":)" + entry(dtype, "[0]", "[0,0]") + "}", ""), unsupported, "\"x\"", dtype);
  EXPECT_TESSERA_ERROR(load(R"({"x":)" + entry("F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", "1234"), unsupported,
                       "9 dimensions", "8");
}

TEST_F(SafetensorsFiles, CutShortAnywhereAreRefused) {
  save_safetensors(path_, {{"a", context().tensor({2}, {1, 2})}, {"b", context().tensor({1}, {3})}}, {{"k", "v"}});
  const std::string whole = bytes_of(path_);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_TESSERA_ERROR(load(whole.substr(0, length)), io, path_.string().c_str());
  }
  EXPECT_TESSERA_ERROR(load(whole + '\0'), io, "end at byte 12", "13");
}

TEST_F(SafetensorsFiles, OffsetsThatDoNotFitAreRefused) {
  const auto two = [&](const std::string& first, const std::string& second) {
    return load(R"({"a":)" + entry("F32", "[1]", first) + R"(,"b":)" + entry("F32", "[1]", second) + "}",
                std::string(8, '\0'));
  };
  EXPECT_EQ(two("[4,8]", "[0,4]").tensors.size(), 2u);
  EXPECT_TESSERA_ERROR(two("[0,4]", "[0,4]"), io, "overlap", "\"a\"", "\"b\"");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[2,6]"), io, "overlap", "2 to 6");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[5,9]"), io, "5 to 9", "8 bytes");
  EXPECT_TESSERA_ERROR(two("[0,3]", "[4,8]"), io, "hole");
  EXPECT_TESSERA_ERROR(two("[1,4]", "[4,8]"), io, "hole from 0");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[8,4]"), io, "backwards");
  EXPECT_TESSERA_ERROR(two("[0,5]", "[5,8]"), io, "4 bytes", "hold 5");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[4,18446744073709551615]"), io, "18446744073709551615");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[18446744073709551612,0]"), io, "backwards");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[4,18446744073709551616]"), io, "\"b\"", "whole number");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[-4,8]"), io, "negative");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[4.0,8]"), io, "4.0");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[4]"), io, "1 numbers");
  EXPECT_TESSERA_ERROR(two("[0,4]", "[4,8,8]"), io, "3 numbers");
}

TEST_F(SafetensorsFiles, ShapesThatDoNotFitAreRefused) {
  const auto of_shape = [&](const std::string& shape) {
    return load(R"({"a":)" + entry("F32", shape, "[0,4]") + "}", "1234");
  };
  EXPECT_EQ(of_shape("[]").tensors.at("a").shape(), Shape());
  for (const char* shape : {"[2]", "[0]", "[4611686018427387905]", "[4294967296,4294967296]",
                            "[4294967296,4294967296,0]", "[9223372036854775808,2]", "[18446744073709551615]"})
    EXPECT_TESSERA_ERROR(of_shape(shape), io, "\"a\"");
  const auto empty = [&](const std::string& shape) {
    return load(R"({"a":)" + entry("F32", shape, "[0,0]") + "}", "");
  };
  EXPECT_EQ(empty("[0,3]").tensors.at("a").shape(), (Shape{0, 3}));
  for (const char* shape :
       {"[0,4611686018427387904,4611686018427387904]", "[4611686018427387904,4611686018427387904,0]",
        "[0,18446744073709551615]", "[4294967296,0]"})
    EXPECT_TESSERA_ERROR(empty(shape), unsupported, "\"a\"", "2147483647");
  for (const char* shape : {"[-1]", "[1.0]", "[1e0]", "[\"1\"]", "[null]", "[[1]]", "[true]", "1", "{}", "null"})
    EXPECT_TESSERA_ERROR(of_shape(shape), io, "the shape of \"a\"");
}

TEST_F(SafetensorsFiles, HeadersThatAreNoHeadersAreRefused) {
  const std::string good = entry("F32", "[1]", "[0,4]");
  const std::string deep(200'000, '[');
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"x":)";
  const std::vector<std::pair<std::string, const char*>> headers{
      {"", "begin with {"},
      {"[]", "begin with {"},
      {" {}", "begin with {"},
      {"\xef\xbb\xbf{}", "begin with {"},
      {"{", "no JSON"},
      {"{} x", "no JSON"},
      {std::string("{}\0", 3), "no JSON"},
      {std::string("{}\0{", 4), "no JSON"},
      {"{}{}", "no JSON"},
      {"{/**/}", "no JSON"},
      {R"({"a":)" + good + ",}", "no JSON"},
      {R"({"a":)" + good + R"(,"a":)" + good + "}", "\"a\" twice"},
      {R"({"a":)" + good + R"(,"\u0061":)" + good + "}", "\"a\" twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "twice"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", "\"k\" twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "\"dtype\" twice"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"stride":[1]}})", "\"stride\""},
      {R"({"a":{"dtype":"F32","shape":[1]}})", "no data_offsets"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", "no dtype"},
      {R"({"a":{}})", "no dtype"},
      {R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", "the dtype of \"a\" is a number"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":"0,4"}})", "data_offsets of \"a\" are a string"},
      {R"({"a":[]})", "\"a\" is an array"},
      {R"({"a":null})", "\"a\" is null"},
      {R"({"__metadata__":"text"})", "the metadata is a string"},
      {R"({"__metadata__":{"k":1}})", "metadata \"k\" is a number"},
      {R"({"__metadata__":{"k":{"l":"m"}}})", "metadata \"k\" is an object"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4],"shape":)" + deep, "an array"},
      {R"({"a":)" + deep, "\"a\" is an array"},
      {objects, "field \"x\""},
      {"{\"\xff\":" + good + "}", "no JSON"},
      {"{\"\xc0\x80\":" + good + "}", "no JSON"},
      {"{\"\xed\xa0\x80\":" + good + "}", "no JSON"},
      {"{\"a\n\":" + good + "}", "no JSON"},
      {R"({"\q":)" + good + "}", "no JSON"},
      {R"({"\ud800":)" + good + "}", "no JSON"},
      {R"({"\u12":)" + good + "}", "no JSON"},
  };
  for (const auto& refused : headers) {
    SCOPED_TRACE(refused.first.substr(0, 80));
    EXPECT_TESSERA_ERROR(load(refused.first, "1234"), io, refused.second, path_.string().c_str());
  }
}

TEST_F(SafetensorsFiles, LengthsBeyondTheFileTakeNoMemory) {
  const auto length_of = [](std::uint64_t length) { return raw(std::vector{length}); };
  EXPECT_TESSERA_ERROR(load(length_of(3) + "{}"), io, "3 bytes", "only 2");
  EXPECT_TESSERA_ERROR(load(length_of(100'000'000) + "{}"), io, "only 2");
  EXPECT_TESSERA_ERROR(load(length_of(100'000'001) + "{}"), io, "100000001", "100000000");
  EXPECT_TESSERA_ERROR(load(length_of(~std::uint64_t{0}) + "{}"), io, "18446744073709551615");
  EXPECT_TESSERA_ERROR(load(length_of(~std::uint64_t{0} - 7) + "{}"), io, "18446744073709551608");
  EXPECT_TESSERA_ERROR(load(std::string(7, '\0')), io, "7 bytes");
}

TEST_F(SafetensorsFiles, EveryDamagedByteOfAHeaderIsRefusedOrHarmless) {
  save_safetensors(path_, {{"a", context().tensor({2}, {1, 2})}, {"b", context().zeros({3}, DType::u8)}}, {{"k", "v"}});
  const std::string whole = bytes_of(path_);
  int refused = 0, taken = 0;
  for (std::size_t i = 0; i < whole.size() - 11; ++i)
    for (const char damage : {'\0', '"', '9', '}', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = damage;
      try {
        for (const auto& [name, tensor] : load(damaged).tensors) tensor.read();
        ++taken;
      } catch (const Error&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 10 * taken) << taken;
}

TEST_F(SafetensorsFiles, DamagedAnywhereAreRefusedOrHarmless) {
  save_safetensors(path_, {{"a", context().tensor({2}, {1, 2})}, {"b", context().zeros({3, 2}, DType::f16)}},
                   {{"k", "v"}});
  const std::string whole = bytes_of(path_);
  int refused = 0;
  const int mutations = mutations_wanted(200);
  for (int i = 0; i < mutations; ++i) {
    const std::string seed = commit() + " safetensors " + std::to_string(i);
    SCOPED_TRACE("mutation " + seed);
    try {
      for (const auto& [name, tensor] : load(Mutations(hash_of(seed)).mutated(whole)).tensors) tensor.read();
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, mutations / 4);
}

TEST_F(SafetensorsFiles, PathsThatCannotBeUsed) {
  EXPECT_TESSERA_ERROR(load_safetensors(context(), folder_ / "none"), io, "none", "No such file");
  EXPECT_TESSERA_ERROR(load_safetensors(context(), folder_.path()), io, "not a regular file");
  EXPECT_TESSERA_ERROR(save_safetensors(folder_ / "none" / "x", {}), io, "none", "No such file");
  EXPECT_TESSERA_ERROR(save_safetensors(folder_.path(), {}), io, "directory");
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(SafetensorsFiles, PathsWithANulAreNotCut) {
  const std::filesystem::path cut(path_.string() + std::string("\0.tmp", 5));
  save_safetensors(path_, {});
  EXPECT_TESSERA_ERROR(load_safetensors(context(), cut), io, "load_safetensors", "NUL");
  EXPECT_TESSERA_ERROR(save_safetensors(cut, {{"a", context().zeros({1})}}), io, "save_safetensors", "NUL");
  EXPECT_EQ(bytes_of(path_), file_of("{}      ", ""));
  EXPECT_EQ(folder_.files(), 1);
}

#ifndef _WIN32  // it has neither these files, nor links for everybody, nor modes, nor such long names
TEST_F(SafetensorsFiles, WhatIsNoRegularFileStaysWhatItIs) {
  EXPECT_TESSERA_ERROR(load_safetensors(context(), "/dev/zero"), io, "/dev/zero", "not a regular file");
  const auto fifo = folder_ / "fifo", device = folder_ / "device", link = folder_ / "link";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_symlink("fifo", link);
  EXPECT_TESSERA_ERROR(save_safetensors(fifo, {}), io, "fifo", "not a regular file");
  EXPECT_TESSERA_ERROR(save_safetensors(link, {}), io, "link", "not a regular file");
  EXPECT_TESSERA_ERROR(load_safetensors(context(), link), io, "link", "not a regular file");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::ptrdiff_t files = 2;
  if (mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {  // who may make one: another /dev/null
    EXPECT_TESSERA_ERROR(save_safetensors(device, {}), io, "device", "not a regular file");
    EXPECT_TRUE(std::filesystem::is_character_file(device));
    ++files;
  }
  EXPECT_EQ(folder_.files(), files);
}

TEST_F(SafetensorsFiles, LinksAreWrittenThrough) {
  const auto elsewhere = folder_ / "elsewhere", target = elsewhere / "target", link = folder_ / "link",
             link_to_link = folder_ / "link_to_link", to_nothing = folder_ / "to_nothing", circle = folder_ / "circle";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_symlink("elsewhere/target", link);
  std::filesystem::create_symlink(link, link_to_link);
  std::filesystem::create_symlink("elsewhere/new", to_nothing);
  std::filesystem::create_symlink("circle", circle);
  write_bytes(target, "old");
  const std::string empty = file_of("{}      ", "");
  save_safetensors(link_to_link, {});
  save_safetensors(to_nothing, {});
  EXPECT_EQ(bytes_of(target), empty);
  EXPECT_EQ(bytes_of(elsewhere / "new"), empty);
  EXPECT_TESSERA_ERROR(save_safetensors(circle, {}), io, "circle", "symbolic links");
  for (const auto& path : {link, link_to_link, to_nothing, circle})
    EXPECT_TRUE(std::filesystem::is_symlink(path)) << path;
  EXPECT_EQ(folder_.files(), 5);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(elsewhere), {}), 2);
}

TEST_F(SafetensorsFiles, MayHaveNamesAsLongAsTheFileSystemAllows) {
  const auto path = folder_ / std::string(255, 'n');
  save_safetensors(path, {});
  EXPECT_TRUE(load_safetensors(context(), path).tensors.empty());
}

TEST_F(SafetensorsFiles, KeepTheirModeWhenReplaced) {
  using std::filesystem::perms;
  const auto mode_of = [](const std::filesystem::path& path) { return std::filesystem::status(path).permissions(); };
  save_safetensors(path_, {});
  const perms of_new_files = mode_of(path_);
  for (const perms mode : {perms(0600), perms(0640), perms(0777)}) {
    std::filesystem::permissions(path_, mode);
    save_safetensors(path_, {{"a", context().zeros({1})}});
    EXPECT_EQ(mode_of(path_), mode);
  }
  std::filesystem::remove(path_);
  save_safetensors(path_, {});
  EXPECT_EQ(mode_of(path_), of_new_files);
}
#endif

TEST_F(SafetensorsFiles, ThatMayNotBeWrittenAreNotReplaced) {
  save_safetensors(path_, {});
  std::filesystem::permissions(path_, std::filesystem::perms(0444));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  const Tensor x = context().zeros({1});
  {
    const WithoutRootsRights user;
    EXPECT_TESSERA_ERROR(save_safetensors(path_, {{"x", x}}), io, "write to it", "Permission denied");
  }
  EXPECT_EQ(bytes_of(path_), file_of("{}      ", ""));
  EXPECT_EQ(folder_.files(), 1);
}

TEST_F(SafetensorsFiles, NamesThatCannotBeWritten) {
  const Tensor x = context().zeros({1});
  EXPECT_TESSERA_ERROR(save_safetensors(path_, {{"__metadata__", x}}), invalid_argument, "__metadata__");
  EXPECT_TESSERA_ERROR(save_safetensors(path_, {{"a\xff", x}}), invalid_argument, "\"a\\xff\"", "UTF-8");
  EXPECT_TESSERA_ERROR(save_safetensors(path_, {{"a", x}}, {{"k", "\xc3"}}), invalid_argument, "\\xc3", "UTF-8");
  EXPECT_TESSERA_ERROR(save_safetensors(path_, {{"a", Tensor()}}), invalid_argument, "empty");
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(SafetensorsFiles, AFailedWriteLeavesTheOldFile) {
  save_safetensors(path_, {{"a", context().tensor({1}, {7})}});
  const std::string before = bytes_of(path_);
  // A tensor that cannot be computed: the file is begun by then.
  Tensor without_value;
  Program::record(context(), {{{1}}},
                  [&](std::span<const Tensor> in) { return std::vector{without_value = in[0] + 1.0f}; });
  EXPECT_THROW(save_safetensors(path_, {{"a", without_value}}), Error);
  EXPECT_EQ(bytes_of(path_), before);
  EXPECT_EQ(folder_.files(), 1);
}

TEST_P(SafetensorsOn, EveryTypeComesBackTheSame) {
  const TemporaryFolder folder;
  const auto path = folder / "all.safetensors";
  const std::vector<float> values{-3, 0, 1, 2.5f, 100};
  std::map<std::string, Tensor> tensors{
      {"f32", context().tensor({5}, values)},
      {"f16", context().tensor({5, 1}, as<half>(values))},
      {"i32", context().tensor({1, 5}, std::vector<std::int32_t>{-2147483647, -1, 0, 1, 2147483647})},
      {"i8", context().tensor({5}, std::vector<std::int8_t>{-128, -1, 0, 1, 127})},
      {"u8", context().tensor({5}, std::vector<std::uint8_t>{0, 1, 2, 128, 255})},
      {"strange \"\\\n\t\x01 name/\u2603", context().tensor({}, {4})},
      {"computed", context().tensor({5}, values) * 2.0f},
      {"empty", context().zeros({2, 0, 3}, DType::i8)}};
  tensors["bool"] = tensors["f32"] > 0.0f;
  save_safetensors(path, tensors, {{"strange\n\"", "\u00fc"}});
  const Safetensors file = load_safetensors(context(), path);
  EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"strange\n\"", "\u00fc"}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, want] : tensors) {
    const Tensor& got = file.tensors.at(name);
    EXPECT_EQ(got.dtype(), want.dtype()) << name;
    EXPECT_EQ(got.shape(), want.shape()) << name;
    EXPECT_EQ(got.read(), want.read()) << name;
  }
  EXPECT_EQ(file.tensors.at("i32").read<std::int32_t>(), tensors["i32"].read<std::int32_t>());
}

TESSERA_ON_ALL_DEVICES(SafetensorsOn);

}  // namespace
}  // namespace tessera::test::safetensors_test
