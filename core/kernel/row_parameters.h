// The parameters and options of the kernels in shaders_wgsl/row.wgsl.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// Rows are normalised: x seen as [outer, count, inner], along its middle axis. Either that axis is the last one (inner
// is 1), and rows lie one after the other; or they are columns, inner is a multiple of 4, and a texel has one element
// of each of four adjacent rows. A team of invocations does one row, or four adjacent ones; a workgroup has several
// teams.
struct RowParameters {
  Unsigned count, inner;
  Unsigned teams;           // in all
  Unsigned team_size;       // in invocations
  Unsigned teams_together;  // in a workgroup
  float epsilon;
  TESSERA_PARAMETERS(count, inner, teams, team_size, teams_together, epsilon);
};

// The result for an element x.
enum class RowKind : std::int32_t {
  softmax,      // exp(x - max) / sum(exp(x - max))
  log_softmax,  // x - max - log(sum(exp(x - max)))
  layer_norm,   // (x - mean) / sqrt(variance + epsilon)
  rms_norm,     // x / sqrt(mean of squares + epsilon)
};
struct RowOptions {
  Signed kind;  // a RowKind
  Signed in_columns;
  TESSERA_PARAMETERS(kind, in_columns);
};

// x / (bias + alpha * (sum of the squares of the channels within the radius))^beta
struct LrnParameters {
  Unsigned channels, radius;
  float bias, alpha, beta;
  TESSERA_PARAMETERS(channels, radius, bias, alpha, beta);
};

}  // namespace tessera
