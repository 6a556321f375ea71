// Parameters of kernels: their words, and the text that shaders read them by.
#include "core/kernel/parameters.h"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernel/attention_parameters.h"
#include "core/kernel/colour_parameters.h"
#include "core/kernel/embedded_shader.h"
#include "core/kernel/fft_parameters.h"
#include "core/kernel/gather_parameters.h"
#include "core/kernel/image_parameters.h"
#include "core/kernel/matmul_parameters.h"
#include "core/kernel/parameter_text.h"
#include "core/kernel/random_parameters.h"
#include "core/kernel/reduce_parameters.h"
#include "core/kernel/row_parameters.h"
#include "core/kernel/scan_parameters.h"
#include "core/kernel/shader_text.h"
#include "core/kernel/sort_parameters.h"
#include "core/kernel/window_parameters.h"
#include <tessera/error.h>

namespace tessera::test::parameters_test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

struct Step {
  Unsigned size;
  Signed stride;
  TESSERA_PARAMETERS(size, stride);
};
struct WalkParameters {
  float scale;
  std::array<Step, 2> corners;
  std::array<float, 3> weights;
  Step last;
  std::vector<Step> steps;
  TESSERA_PARAMETERS(scale, corners, weights, last, steps);
};
struct WalkOptions {
  Signed steps, mode;
  TESSERA_PARAMETERS(steps, mode);
};

const WalkParameters walk{.scale = 1.0f,
                          .corners = {Step{1, -1}, Step{2, -2}},
                          .weights = {2.0f, 4.0f, 8.0f},
                          .last = {3, -3},
                          .steps = {{4, -4}, {5, 3'000'000'000}}};

KernelCore walk_core() {
  return {.file = "walk",
          .entry = "walk_on",
          .parameter_names = &ParameterList::of<WalkParameters>(),
          .option_names = &ParameterList::of<WalkOptions>()};
}

std::string text_of(std::string_view code) { return with_words_for_names(code, walk_core(), "u32"); }

TEST(Parameters, AreWordsInTheOrderOfTheirNames) {
  EXPECT_THAT(words_of(walk), ElementsAre(0x3f800000, 1, 0xffffffff, 2, 0xfffffffe, 0x40000000, 0x40800000, 0x41000000,
                                          3, 0xfffffffd, 4, 0xfffffffc, 5, 3'000'000'000));
  EXPECT_THAT(words_of(NoParameters{}), ElementsAre());
}

TEST(Parameters, ComeBackFromWords) {
  const auto read = from_words<WalkParameters>(words_of(walk));
  EXPECT_EQ(words_of(read), words_of(walk));
  EXPECT_EQ(read.steps[0].stride * read.steps[1].size, -20);
  EXPECT_EQ(read.corners[1].stride, -2);
  EXPECT_EQ(read.weights[2], 8.0f);
}

TEST(Parameters, DoNotComeFromOtherNumbersOfWords) {
  const std::vector<std::uint32_t> words(3);
  EXPECT_THAT([&] { from_words<Step>(words); }, ThrowsMessage<std::logic_error>(HasSubstr("more words")));
  EXPECT_THAT([&] { from_words<WalkParameters>(words); }, ThrowsMessage<std::logic_error>(HasSubstr("fewer words")));
}

TEST(Parameters, ThatNoWordHoldsAreErrors) {
  EXPECT_THROW(Unsigned(std::int64_t{1} << 32), Error);
  EXPECT_THROW(Signed(-(std::int64_t{1} << 31) - 1), Error);
}

struct Wrong {
  std::vector<Step> steps;
  Unsigned size;
  TESSERA_PARAMETERS(steps, size);
};
TEST(Parameters, DoNotFollowAVector) {
  EXPECT_THAT([] { ParameterList::of<Wrong>(); }, ThrowsMessage<std::logic_error>(HasSubstr("parameter size follows")));
}

TEST(ParameterText, ReadsWordsInTheirType) {
  EXPECT_EQ(text_of("let a = parameters.scale * f32(parameters.last.size);"),
            "let a = core_float(0u) * f32(core_word(8u));");
  EXPECT_EQ(text_of("vec4i(parameters.last.stride)"), "vec4i(core_int(9u))");
}

TEST(ParameterText, HasConstantIndicesWhereItCan) {
  EXPECT_EQ(text_of("parameters.corners[1].stride"), "core_int(4u)");
  EXPECT_EQ(text_of("parameters.weights[2]"), "core_float(7u)");
}

TEST(ParameterText, CountsIndicesByTheirElements) {
  EXPECT_EQ(text_of("parameters.weights[i + 1]"), "core_float(5u + u32(i + 1))");
  EXPECT_EQ(text_of("parameters.steps[i].stride"), "core_int(11u + 2u * u32(i))");
  EXPECT_EQ(text_of("parameters.steps[order[i]].size"), "core_word(10u + 2u * u32(order[i]))");
  EXPECT_EQ(text_of("parameters.steps[parameters.last.size - options.steps].size"),
            "core_word(10u + 2u * u32(core_word(8u) - option_steps))");
}

TEST(ParameterText, NamesTheConstantsOfOptions) {
  EXPECT_EQ(text_of("if (options.mode == 1) {"), "if (option_mode == 1) {");
  EXPECT_EQ(option_name(walk_core(), 0), "option_steps");
  EXPECT_EQ(option_name(walk_core(), 1), "option_mode");
}

TEST(ParameterText, LeavesOtherTextAlone) {
  for (const std::string text : {"my_parameters.scale", "parameters", "of its parameters. Then", "parameters[0]", ""})
    EXPECT_EQ(text_of(text), text);
}

TEST(ParameterText, RefusesNamesThatAreNotDeclared) {
  EXPECT_THAT([] { text_of("parameters.sclae"); },
              ThrowsMessage<std::logic_error>("walk: parameters.sclae is not declared for walk_on."));
  EXPECT_THAT([] { text_of("options.scale"); },
              ThrowsMessage<std::logic_error>("walk: options.scale is not declared for walk_on."));
  for (const std::string text : {"parameters.steps", "parameters.steps[i]", "parameters.last", "parameters.scale[i]"})
    EXPECT_THROW(text_of(text), std::logic_error) << text;
}

// Members are no calls: a parameter may have the name of a function.
TEST(ParameterText, UsesNoFunctionsThatMembersAreNamedLike) {
  const std::string library = "// steps\n\nfn size() {}\n\nfn walk() {}\n";
  EXPECT_EQ(used_functions(library, "parameters.size + walk()"), "// steps\n\nfn walk() {}\n\n");
}

// Every entry whose parameters have names.
struct Row {
  std::string_view file, entry;
  const ParameterList& (*parameters)();
  const ParameterList& (*options)() = ParameterList::of<NoParameters>;
};
constexpr Row rows[] = {
    {"attention", "attention_octets", ParameterList::of<AttentionParameters>, ParameterList::of<AttentionOptions>},
    {"attention", "attention_by_texels", ParameterList::of<AttentionParameters>, ParameterList::of<AttentionOptions>},
    {"colour", "colour_matrix_numbers", ParameterList::of<ColourMatrixParameters>},
    {"colour", "colour_matrix_tensor", ParameterList::of<ColourMatrixParameters>},
    {"colour", "colour_lookup", ParameterList::of<ColourLookupParameters>},
    {"colour", "colour_yuv_to_rgb", ParameterList::of<YuvToRgbParameters>},
    {"colour", "colour_rgb_to_chroma", ParameterList::of<RgbToChromaParameters>},
    {"concat", "concat_2", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"concat", "concat_3", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"concat", "concat_4", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"concat", "concat_5", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"concat", "concat_6", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"concat", "concat_7", ParameterList::of<ConcatParameters>, ParameterList::of<ConcatOptions>},
    {"conv", "conv", ParameterList::of<ConvParameters>, ParameterList::of<ConvOptions>},
    {"conv", "conv_texel", ParameterList::of<ConvParameters>, ParameterList::of<ConvOptions>},
    {"conv", "conv_strip", ParameterList::of<ConvParameters>, ParameterList::of<ConvOptions>},
    {"conv", "conv_slide", ParameterList::of<ConvParameters>, ParameterList::of<ConvOptions>},
    {"conv_dot4", "conv_dot4", ParameterList::of<ConvOctetParameters>, ParameterList::of<ConvDot4Options>},
    {"conv", "conv_octets", ParameterList::of<ConvOctetParameters>, ParameterList::of<ConvOctetOptions>},
    {"fft", "fft_pass", ParameterList::of<FftParameters>, ParameterList::of<FftOptions>},
    {"fft", "fft_product", ParameterList::of<FftProductParameters>},
    {"filter", "filter_numbers", ParameterList::of<FilterParameters>, ParameterList::of<FilterOptions>},
    {"filter", "filter_tensor", ParameterList::of<FilterParameters>, ParameterList::of<FilterOptions>},
    {"gather", "index_map", ParameterList::of<IndexMapParameters>, ParameterList::of<IndexMapOptions>},
    {"gather", "gather_axis", ParameterList::of<GatherAxisParameters>},
    {"gather", "gather_nd", ParameterList::of<GatherNdParameters>, ParameterList::of<IndexedAxesOptions>},
    {"gather", "scatter_rows", ParameterList::of<ScatterRowsParameters>, ParameterList::of<IndexedAxesOptions>},
    {"gather", "pad", ParameterList::of<PadParameters>, ParameterList::of<PadOptions>},
    {"histogram", "histogram_count", ParameterList::of<HistogramParameters>},
    {"matmul", "matmul_pull", ParameterList::of<MatmulPullParameters>, ParameterList::of<MatmulOptions>},
    {"matmul", "matmul_block", ParameterList::of<MatmulBlockParameters>, ParameterList::of<MatmulOptions>},
    {"matmul_dot4", "matmul_dot4", ParameterList::of<MatmulOctetParameters>, ParameterList::of<MatmulDot4Options>},
    {"matmul", "matmul_octets", ParameterList::of<MatmulOctetParameters>, ParameterList::of<MatmulOctetOptions>},
    {"matmul_4bit", "matmul_4bit_texels", ParameterList::of<Matmul4BitParameters>,
     ParameterList::of<Matmul4BitOptions>},
    {"matmul_4bit", "matmul_4bit_octets", ParameterList::of<Matmul4BitOctetParameters>,
     ParameterList::of<Matmul4BitOctetOptions>},
    {"matmul_4bit", "matmul_4bit_rows", ParameterList::of<Matmul4BitParameters>, ParameterList::of<Matmul4BitOptions>},
    {"pool", "pool_max", ParameterList::of<PoolingParameters>, ParameterList::of<PoolingOptions>},
    {"pool", "pool_average", ParameterList::of<PoolingParameters>, ParameterList::of<PoolingOptions>},
    {"pool", "pool_argmax", ParameterList::of<PoolingParameters>, ParameterList::of<PoolingOptions>},
    {"random", "random_uniform", ParameterList::of<RandomUniformParameters>},
    {"random", "random_normal", ParameterList::of<RandomNormalParameters>},
    {"random", "random_integers", ParameterList::of<RandomIntegersParameters>},
    {"reduce", "reduce_fold", ParameterList::of<ReduceFoldParameters>, ParameterList::of<ReduceFoldOptions>},
    {"reduce", "reduce_mean", ParameterList::of<ReduceMeanParameters>, ParameterList::of<ReduceMeanOptions>},
    {"reduce", "reduce_arg", ParameterList::of<ReduceArgParameters>, ParameterList::of<ReduceArgOptions>},
    {"reduce", "reduce_arg_among", ParameterList::of<ReduceArgParameters>, ParameterList::of<ReduceArgOptions>},
    {"resize", "resize_nearest", ParameterList::of<ResizeParameters>, ParameterList::of<ResizeOptions>},
    {"resize", "resize_bilinear", ParameterList::of<ResizeParameters>, ParameterList::of<ResizeOptions>},
    {"resize", "resize_cubic", ParameterList::of<ResizeParameters>, ParameterList::of<ResizeOptions>},
    {"row", "row_octets", ParameterList::of<RowParameters>, ParameterList::of<RowOptions>},
    {"row", "row_normalize", ParameterList::of<RowParameters>, ParameterList::of<RowOptions>},
    {"row", "row_by_texels", ParameterList::of<RowParameters>, ParameterList::of<RowOptions>},
    {"row", "row_statistics", ParameterList::of<RowParameters>, ParameterList::of<RowOptions>},
    {"row", "row_apply", ParameterList::of<RowParameters>, ParameterList::of<RowOptions>},
    {"row", "row_lrn", ParameterList::of<LrnParameters>},
    {"scan", "scan_run", ParameterList::of<ScanParameters>, ParameterList::of<ScanOptions>},
    {"scan", "scan_after", ParameterList::of<ScanParameters>, ParameterList::of<ScanOptions>},
    {"scan", "scan_totals", ParameterList::of<ScanParameters>, ParameterList::of<ScanOptions>},
    {"scatter", "scatter_sum", ParameterList::of<ScatterParameters>},
    {"scatter", "scatter_last", ParameterList::of<ScatterParameters>},
    {"scatter", "scatter_starts", ParameterList::of<ScatterStartsParameters>},
    {"scatter", "scatter_run_sum", ParameterList::of<ScatterRunParameters>},
    {"scatter", "scatter_run_last", ParameterList::of<ScatterRunParameters>},
    {"sort", "sort_keys", ParameterList::of<SortKeysParameters>, ParameterList::of<SortKeysOptions>},
    {"sort", "sort_ranks", ParameterList::of<SortRanksParameters>},
    {"sort", "sort_blocks", ParameterList::of<SortBlocksParameters>},
    {"sort", "sort_merge", ParameterList::of<SortMergeParameters>},
    {"sort", "sort_merge_runs", ParameterList::of<SortMergeParameters>},
    {"sort", "sort_splits", ParameterList::of<SortMergeParameters>},
    {"sort", "sort_take", ParameterList::of<SortTakeParameters>},
    {"warp", "warp_affine", ParameterList::of<AffineParameters>},
    {"warp", "warp_crop", ParameterList::of<CropParameters>},
    {"winograd", "winograd_image", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
    {"winograd", "winograd_image_texel", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
    {"winograd", "winograd_filter", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
    {"winograd", "winograd_filter_texel", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
    {"winograd", "winograd_result", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
    {"winograd", "winograd_result_texel", ParameterList::of<WinogradParameters>, ParameterList::of<WinogradOptions>},
};

std::string_view file_text(const Row& row, const std::string& language) {
  return embedded_shader(std::string(row.file) + "." + language);
}

// The functions of an entry, with those of window.wgsl that they use.
std::string code_of(const Row& row) {
  const std::string code = used_functions(file_text(row, "wgsl"), std::string(row.entry) + "()");
  return used_functions(embedded_shader("window.wgsl"), code) + code;
}

TEST(ParameterText, OfEveryEntryHasDeclaredNamesOnly) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.entry);
    const std::string in_wgsl = code_of(row), in_glsl = used_functions(file_text(row, "glsl"), in_wgsl);
    EXPECT_THAT(in_wgsl, HasSubstr(std::string(row.entry) + "("));
    for (const std::string& code : {in_wgsl, in_glsl}) {
      EXPECT_THAT(code, Not(AnyOf(HasSubstr("core_word"), HasSubstr("core_float"), HasSubstr("option_"))));
      const KernelCore core{
          .file = row.file, .entry = row.entry, .parameter_names = &row.parameters(), .option_names = &row.options()};
      EXPECT_NO_THROW(with_words_for_names(code, core, "u32"));
    }
  }
}

// So that the list above has every entry of its files.
TEST(ParameterText, OfEveryFunctionBelongsToAnEntry) {
  std::set<std::string> unused;
  for (const Row& row : rows) {
    std::istringstream lines{std::string(file_text(row, "wgsl")).append(embedded_shader("window.wgsl"))};
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("fn ")) unused.insert(line.substr(0, line.find('(') + 1));
  }
  EXPECT_GT(unused.size(), std::size(rows));
  for (const Row& row : rows) {
    const std::string code = code_of(row);
    std::erase_if(unused, [&](const std::string& function) { return code.find(function) != std::string::npos; });
  }
  EXPECT_THAT(unused, ElementsAre());
}

}  // namespace
}  // namespace tessera::test::parameters_test
