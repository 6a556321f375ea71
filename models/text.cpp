// Counts of n-grams of integers.
#include <algorithm>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

Results ngram_counts(const Call& call) {
  if (call.attribute("pool_strings")) call.unsupported("strings.");
  if (call.text("mode", "") != "TF") call.unsupported("weights other than counts.");
  call.expect_rank(0, 1, 2);
  const Sizes pool = call.integers("pool_int64s").value_or(Sizes{}),
              starts = call.integers("ngram_counts").value_or(Sizes{}),
              columns = call.integers("ngram_indexes").value_or(Sizes{});
  const std::int64_t least = call.integer("min_gram_length"), most = call.integer("max_gram_length"),
                     skips = call.integer("max_skip_count");
  const Tensor x = call.rank() == 1 ? expand_dims(call.tensor(0), 0) : call.tensor(0);
  const std::int64_t rows = x.shape()[0], length = x.shape()[1];
  call.expect(!columns.empty() &&
                  std::ranges::all_of(columns, [](std::int64_t column) { return column >= 0 && column < 65536; }),
              "its columns are not possible.");
  std::vector<Tensor> counts(static_cast<std::size_t>(*std::ranges::max_element(columns)) + 1,
                             call.context().zeros({rows}));
  std::size_t gram = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto size = static_cast<std::int64_t>(k) + 1,
               end = k + 1 < starts.size() ? starts[k + 1] : static_cast<std::int64_t>(pool.size());
    call.expect(starts[k] >= 0 && end <= static_cast<std::int64_t>(pool.size()),
                "its pool is shorter than its counts say.");
    for (std::int64_t begin = starts[k]; begin + size <= end; begin += size, ++gram) {
      call.expect(gram < columns.size(), "it has fewer columns than n-grams.");
      if (size < least || size > most) continue;
      Tensor& total = counts[static_cast<std::size_t>(columns[gram])];
      for (std::int64_t apart = 1; apart <= (size > 1 ? skips + 1 : 1); ++apart) {
        const std::int64_t places = length - (size - 1) * apart;
        if (places <= 0) break;
        call.trace().count_step();
        Tensor hits;
        for (std::int64_t j = 0; j < size; ++j) {
          const auto token = static_cast<double>(pool[static_cast<std::size_t>(begin + j)]);
          const Tensor equal = slice(x, {0, j * apart}, {rows, places}) == token;
          hits = hits.is_empty() ? equal : logical_and(hits, equal);
        }
        total = total + sum(hits.cast(DType::f32), {.axes = {1}});
      }
    }
  }
  const Tensor result = stack(counts, 1);
  return {call.give(call.rank() == 1 ? squeeze(result, {0}) : result, Type::float32)};
}

}  // namespace

const Operators& text_operators() {
  static const Operators rows{{"TfIdfVectorizer", 1, ngram_counts}};
  return rows;
}

}  // namespace tessera::onnx
