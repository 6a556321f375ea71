// The rows of docs/ops.md that no table of the library holds: operations of kernel families, and those made of others.
// Each public header with operations has a section. Tolerances are those of the tests, types those that core accepts.
#pragma once
#include <span>
#include <string_view>

namespace tessera::docs {

struct OpRow {
  std::string_view call;      // as a user writes it, with the shapes: "matmul(a [...,M,K], b [...,K,N])"
  std::string_view takes;     // element types: "f32 f16"
  std::string_view gives;     // shape and type of the result: "[...,M,N], the same type"
  std::string_view accuracy;  // "exact", or a tolerance and where it holds
  std::string_view notes;     // special values, and where they differ between devices
  std::string_view backends = "all";
};

struct Section {
  std::string_view title;
  std::string_view header;  // where the operations are declared
  std::string_view text;    // a paragraph above the table
  std::span<const OpRow> rows;
};

inline constexpr std::string_view floats = "f32 f16", numbers = "f32 f16 i32 i8 u8",
                                  every_type = "f32 f16 i32 i8 u8 boolean", image_types = "f32 f16 u8";
inline constexpr std::string_view same = "x's shape, the same type";

// Of the table's header, but made of its rows.
inline constexpr OpRow pointwise_rows[] = {
    {"leaky_relu(a, slope)", floats, "a's shape, the same type", "as prelu", "prelu with a number"},
};

inline constexpr std::string_view reduced = "the axes left, the same type", reduced_to_i32 = "the axes left, i32";
inline constexpr OpRow reduce_rows[] = {
    {"sum(x [...], {axes, keep_dims})", numbers, reduced, "1e-6 where all have one sign, else 2e-5 over [-2, 2]",
     "over no elements 0"},
    {"mean(x [...], {axes, keep_dims})", floats, reduced, "as sum",
     "never below the smallest nor above the largest element: of equal numbers it is that number; over no elements "
     "NaN"},
    {"prod(x [...], {axes, keep_dims})", numbers, reduced, "1e-4 over factors near 1", "over no elements 1"},
    {"max(x [...], {axes, keep_dims})", numbers, reduced, "exact", "NaN wins; over no elements the lowest number"},
    {"min(x [...], {axes, keep_dims})", numbers, reduced, "exact", "NaN wins; over no elements the highest number"},
    {"any(x [...], {axes, keep_dims})", "boolean", reduced, "exact", "over no elements false"},
    {"all(x [...], {axes, keep_dims})", "boolean", reduced, "exact", "over no elements true"},
    {"l1_norm(x [...], {axes, keep_dims})", floats, reduced, "as sum", "the sum of magnitudes"},
    {"l2_norm(x [...], {axes, keep_dims})", floats, reduced, "1e-6", "the root of the sum of squares"},
    {"logsumexp(x [...], {axes, keep_dims})", floats, reduced, "1e-6",
     "does not overflow where log(sum(exp(x))) would"},
    {"argmax(x [...], axis, keep_dims)", numbers, reduced_to_i32, "exact",
     "of equal ones the first; NaN counts as the largest"},
    {"argmin(x [...], axis, keep_dims)", numbers, reduced_to_i32, "exact",
     "of equal ones the first; NaN counts as the smallest"},
};

inline constexpr OpRow attention_rows[] = {
    {"attention(q [...,H,Q,D], k [...,Hk,K,D], v [...,Hk,K,E], {scale, mask, causal, past})",
     "f32 f16; the mask boolean f32 f16", "[...,H,Q,E], the same type", "1e-5 over [-1, 1]",
     "H is a multiple of Hk; a query that sees no key, or has a score of NaN or +inf, gets NaN; one pass that stores "
     "no "
     "scores for heads of up to 256 values and from four queries on, on OpenGL ES only where sizes are small"},
};

inline constexpr std::string_view transform_accuracy = "2e-6 of the largest result", lengths = "lengths of 1 to 2^24";
inline constexpr OpRow fft_rows[] = {
    {"fft(x [...,n,...,2], axis, length)", floats, "[...,length,...,2], the same type", transform_accuracy,
     "of real numbers x [...,n,...,1]; lengths of 1 to 2^24"},
    {"ifft(x [...,n,...,2], axis, length)", floats, "[...,length,...,2], the same type", transform_accuracy,
     "divides by the length"},
    {"rfft(x [...,n,...], axis, length)", floats, "[...,length/2+1,...,2], the same type", transform_accuracy, lengths},
    {"irfft(x [...,m,...,2], axis, length)", floats, "[...,length,...], the same type", transform_accuracy,
     "without a length 2(m-1); the imaginary parts of the first number and, of an even length, of the last count for "
     "nothing"},
};

inline constexpr OpRow matmul_rows[] = {
    {"matmul(a [...,M,K], b [...,K,N], {transpose_a, transpose_b})", "f32 f16 i32, and i8 u8 in any pairing",
     "[...,M,N], the same type; i32 of i8 and u8", "1e-5 over [-1, 1]",
     "the axes before the last two broadcast; a vector [K] stands for a row or a column, which the result lacks"},
    {"einsum(equation, {a, b, ...})", "as matmul; of one operand every type, boolean where nothing is summed",
     "the axes that the equation names, types as in matmul; of one operand the same type", "1e-5 over [-1, 1]",
     "any number of operands, multiplied from left to right; \"...\" stands for axes without letters, which broadcast; "
     "a letter twice takes the diagonal; an axis of size 1 stretches"},
};

inline constexpr std::string_view conv_types = "f32 f16, and i32 i8 u8 in any pairing";
inline constexpr OpRow conv_rows[] = {
    {"conv1d(image [batch,width,channels], filter [width,in,out], {stride, dilation, padding, pads, groups})",
     conv_types, "[batch,width',out], the same type; i32 of integers", "1e-5 over [-1, 1]", ""},
    {"conv2d(image [batch,height,width,channels], filter [height,width,in,out], {strides, dilations, padding, pads, "
     "groups})",
     conv_types, "[batch,height',width',out], the same type; i32 of integers", "1e-5 over [-1, 1]",
     "depthwise with as many groups as channels"},
    {"conv3d(image [batch,depth,height,width,channels], filter [depth,height,width,in,out], {strides, dilations, "
     "padding, pads, groups})",
     conv_types, "[batch,depth',height',width',out], the same type; i32 of integers", "1e-5 over [-1, 1]", ""},
    {"conv2d_transpose(image [batch,height,width,in], filter [height,width,out,in], {strides, dilations, padding, "
     "pads, size, groups})",
     floats, "[batch,height',width',out * groups], the same type", "1e-5 over [-1, 1]",
     "the gradient of conv2d; `size` chooses among the sizes that conv2d would bring to the image's"},
};

inline constexpr std::string_view pooled = "[batch,...',channels], the same type",
                                  pooled_globally = "[batch,1,...,channels], the same type";
inline constexpr OpRow pooling_rows[] = {
    {"max_pool(image [batch,...,channels], {size, strides, dilations, padding, pads})", numbers, pooled, "exact",
     "NaN wins; of nothing but padding the lowest number"},
    {"average_pool(image [batch,...,channels], {size, strides, dilations, padding, pads, counts_padding})", floats,
     pooled, "1e-5 over [-3, -1]",
     "f16 sums in f32; of equal numbers that number, where padding does not count; of nothing but padding 0"},
    {"max_pool_with_indices(image [batch,...,channels], {size, strides, dilations, padding, pads})", numbers,
     "values as max_pool; indices [batch,...',channels], i32", "exact",
     "indices into the flattened image, batch included; of equal ones the first; of nothing but padding -1"},
    {"global_max_pool(image [batch,...,channels])", numbers, pooled_globally, "exact", "as max over the axes between"},
    {"global_average_pool(image [batch,...,channels])", floats, pooled_globally, "1e-6",
     "as mean over the axes between"},
};

inline constexpr OpRow row_rows[] = {
    {"softmax(x [...], axis)", floats, same, "1e-6 over [-3, 3]",
     "a NaN, +inf or nothing but -inf make the row NaN; a -inf beside numbers gives 0"},
    {"log_softmax(x [...], axis)", floats, same, "2e-6 over [-3, 3]", "as softmax; a -inf beside numbers stays"},
    {"layer_norm(x [...], {gamma, beta, begin_axis, epsilon})", floats, same,
     "5e-6 over [-3, 3]; 1e-5 with gamma and beta, or at 10,000",
     "gamma and beta have x's shape from begin_axis on; a NaN or an infinity makes the row NaN"},
    {"rms_norm(x [...], {gamma, beta, begin_axis, epsilon})", floats, same, "5e-6 over [-3, 3]; 1e-5 with gamma", ""},
    {"batch_norm(x [...,channels], mean [channels], variance [channels], {gamma, beta, epsilon})", floats, same, "1e-6",
     "pointwise work: part of the kernels around it; gamma and beta are [channels]"},
    {"instance_norm(x [batch,...,channels], {gamma, beta, epsilon})", floats, same, "1e-5 over [-2, 5]",
     "one axis or more between batch and channels"},
    {"group_norm(x [batch,...,channels], groups, {gamma, beta, epsilon})", floats, same, "1e-5 over [-2, 5]",
     "groups divide the channels"},
    {"l2_normalize(x [...], axis, epsilon)", floats, same, "1e-6", "zeros stay zeros"},
    {"lrn(x [...,channels], {depth_radius, bias, alpha, beta})", floats, same, "5e-6 over [-2, 2]",
     "alpha as TensorFlow has it: not divided by the channels of the window"},
};

inline constexpr OpRow shape_rows[] = {
    {"flatten(x [...])", every_type, "[n], the same type", "exact", "a view"},
    {"expand_dims(x [...], axis)", every_type, "one axis of size 1 more, the same type", "exact", "a view"},
    {"squeeze(x [...], axes)", every_type, "without these axes of size 1, the same type", "exact",
     "a view; no axes: all that have a size of 1"},
    {"transpose(x [...], permutation)", every_type, "the axes in that order, the same type", "exact",
     "a view; no permutation: in reverse"},
    {"reverse(x [...], axes)", every_type, same, "exact", "a view; no axes: all of them"},
    {"slice(x [...], begin, size)", every_type, "`size`, the same type", "exact",
     "a view; a size of -1 reaches to the end"},
    {"strided_slice(x [...], begin, end, steps)", every_type, "as many as Python's begin:end:step has, the same type",
     "exact", "a view; negative steps go down"},
    {"split(x [...], parts, axis)", every_type, "tensors of the same type", "exact", "views; `parts` divides the axis"},
    {"split_sizes(x [...], sizes, axis)", every_type, "tensors of the same type", "exact",
     "views; the sizes add up to the axis"},
    {"broadcast_to(x [...], shape)", every_type, "`shape`, the same type", "exact",
     "a view; axes of size 1 stretch, new ones come in front"},
    {"expand(x [...], shape)", every_type, "x's shape and `shape` broadcast, the same type", "exact", "a view"},
    {"tile(x [...], repeats)", every_type, "each axis times its repeats, the same type", "exact", "a view"},
    {"depth_to_space(x [n,h,w,c*b*b], block_size b)", every_type, "[n,h*b,w*b,c], the same type", "exact",
     "a view; ONNX's DCR mode"},
    {"space_to_depth(x [n,h*b,w*b,c], block_size b)", every_type, "[n,h,w,c*b*b], the same type", "exact", "a view"},
    {"diag_part(x [...,rows,columns], k)", every_type, "[...,length of the diagonal], the same type", "exact",
     "a view; k > 0 is above the main diagonal"},
    {"concat({a, b, ...}, axis)", every_type, "the axis as long as all together, the same type", "exact",
     "any number; one kernel for every seven"},
    {"stack({a, b, ...}, axis)", every_type, "a new axis, the same type", "exact", "equal shapes"},
    {"pad(x [...], padding, mode, value)", every_type, "before + size + after along each axis, the same type", "exact",
     "constant, edge or reflect; reflect takes less than the axis has; a value that the type lacks is an error"},
};

inline constexpr OpRow gather_rows[] = {
    {"gather(x [a...,size,b...], indices [i...], axis)", every_type, "[a...,i...,b...], the same type", "exact",
     "indices outside take the nearest element"},
    {"gather_nd(x [s...,b...], indices [i...,depth])", every_type, "[i...,b...], the same type", "exact",
     "indices outside take the nearest element"},
    {"scatter_nd(indices [i...,depth], updates [i...,b...], shape)", every_type, "`shape`, the type of the updates",
     "exact on whole numbers", "updates for one place are summed in their order, f16 in f32; outside they are dropped"},
    {"scatter_update(x [s...,b...], indices [i...,depth], updates [i...,b...])", every_type, same, "exact",
     "the last update for a place wins; outside they are dropped"},
    {"range(context, start, stop, step, dtype)", "", "[n], any type but boolean", "exact on numbers that f32 has",
     "floats are start + i * step in f32; integers are exact, start and step being whole numbers"},
    {"linspace(context, start, stop, count, dtype)", "", "[count], f32 or f16", "1e-6 over [0.1, 0.7]",
     "the first and the last are exact"},
    {"eye(context, rows, columns, k, dtype)", "", "[rows,columns], any type", "exact",
     "k > 0 is above the main diagonal"},
    {"one_hot(indices [i...], depth, {on, off, axis, dtype})", "i32", "[i...,depth], any type", "exact",
     "an index outside, a negative one included, gives `off` everywhere"},
    {"diag(x [...,n])", every_type, "[...,n,n], the same type", "exact", ""},
    {"triangle(x [...,rows,columns], upper or lower, k)", every_type, same, "exact",
     "zeros elsewhere, whatever was there"},
};

inline constexpr OpRow scan_rows[] = {
    {"cumsum(x [...], axis, {exclusive, reverse})", numbers, same,
     "2e-6 where all have one sign, else 2e-5 over [-1, 1]", "f16 sums in f32 and rounds once; integers wrap"},
    {"cumprod(x [...], axis, {exclusive, reverse})", numbers, same, "5e-5 over factors near 1", "as cumsum"},
};

inline constexpr OpRow sort_rows[] = {
    {"sort(x [...], axis, descending)", numbers, same, "exact", "stable; NaN counts as the largest"},
    {"argsort(x [...], axis, descending)", numbers, "x's shape, i32", "exact", "stable; NaN counts as the largest"},
    {"top_k(x [...], k, axis, largest)", numbers, "values: k along the axis, the same type; indices: i32", "exact",
     "in order; of equal ones the lower index first"},
};

inline constexpr OpRow quantize_rows[] = {
    {"matmul_4bit(a [...,K], {values [N,K/2], scales [N,groups], zero_points [N,groups]})",
     "f32 f16; values u8; zero points u8 f32 f16", "[...,N], a's type", "2e-5 over [-1, 1]",
     "(weight - zero point) * scale, 8 without zero points; the weights stay packed on the device"},
    {"quantize(x [...], axis)", floats, "values: x's shape, i8; scale: f32, [] or [channels]",
     "values exact, scale 1e-6",
     "symmetric: the scale is max(abs(x)) / 127, or 1 where max(abs(x)) is below 2^-117; a NaN in x makes it NaN"},
    {"dequantize(values [...], scale, axis)", "i8 u8 i32; scale f32 f16", "the shape of the values, the scale's type",
     "1e-5", "values * scale"},
    {"quantize_linear(x [...], scale, zero_point, axis)", "f32 f16 i32; scale f32 f16; zero point i8 u8",
     "x's shape, i8 or u8", "exact",
     "as in ONNX; without a zero point the type is an argument; a scale nearer to 0 than 2^-124 counts as 2^-124"},
    {"dequantize_linear(x [...], scale, zero_point, axis)", "i8 u8 i32; scale f32 f16; zero point as x",
     "x's shape, the scale's type", "exact", "as in ONNX"},
    {"dynamic_quantize_linear(x [...])", floats, "values: x's shape, u8; scale: [], f32; zero_point: [], u8",
     "values exact, scale 1e-7", "as in ONNX; the scale is 1 where the range is below 2^-116"},
    {"fake_quantize(x [...], {min, max, bits, narrow_range})", floats, same, "1e-5 over [-64, 64]",
     "as TensorFlow's FakeQuantWithMinMaxArgs; NaN stays NaN; the step between levels is a normal f32"},
};

inline constexpr OpRow random_rows[] = {
    {"uniform(context, shape, seed, low, high)", "", "`shape`, f32", "exact",
     "in [low, high); the same bits on every backend"},
    {"normal(context, shape, seed, mean, stddev)", "", "`shape`, f32", "1e-5 of a deviation",
     "at most 5.8 deviations off"},
    {"uniform_integers(context, shape, seed, low, high)", "", "`shape`, i32", "exact", "in [low, high)"},
};

inline constexpr std::string_view resized = "[...,height,width,channels], the same type",
                                  same_image = "the image's shape, the same type";
inline constexpr OpRow image_rows[] = {
    {"resize(image, height, width, {mode, coordinates, cubic_coefficient, nearest})", "f32 f16 u8; nearest every type",
     resized, "nearest exact, else 2e-6 over [-1, 1]", "as ONNX's Resize of given sizes, without antialiasing"},
    {"resize_bilinear(image, height, width)", image_types, resized, "2e-6 over [-1, 1]", "resize with half pixels"},
    {"crop_and_resize(image, boxes [n,4], box_indices [n], height, width, {mode, extrapolation})",
     "f32 f16 u8; boxes f32 f16; indices i32", "[n,height,width,channels], the same type",
     "nearest exact, else 1e-5 over [0, 1]",
     "as in TensorFlow; boxes of images that are not there are all extrapolation"},
    {"affine_transform(image, matrix, {mode, height, width, fill})", image_types, resized, "1e-5 over [-1, 1]",
     "nearest or bilinear"},
    {"rotate(image, radians, {fill, centre_x, centre_y})", image_types, same_image, "exact",
     "the nearest pixel; as TF.js's rotateWithOffset"},
    {"flip_left_right(image)", every_type, same_image, "exact", "a view"},
    {"flip_up_down(image)", every_type, same_image, "exact", "a view"},
    {"to_float(u8 [...])", "u8", "the same shape, f32", "1e-6", "0 to 255 become 0 to 1"},
    {"to_u8(zero_to_one [...])", floats, "the same shape, u8", "exact", "saturates; NaN becomes 0"},
    {"colour_matrix(image, matrix [out,channels] or [out,channels + 1])", "f32 f16 u8; matrix f32 f16",
     "[...,height,width,out], the same type", "1e-5 over [-1, 1]",
     "or the numbers of the matrix, for up to four channels"},
    {"colour_lookup(image, table [n,n,n,3])", "f32 f16 u8; table f32 f16 u8", same_image, "1e-5 over [0, 1]",
     "trilinear; three channels, or four of which the last stays"},
    {"nv12_to_rgb(y [h,w], uv [ceil(h/2),ceil(w/2),2], {matrix, range}, result)", image_types,
     "[h,w,3], f32, f16 or u8", "1e-5; u8 exact on the standards' colours",
     "floats are not clipped; with or without a batch"},
    {"yuv420_to_rgb(y [h,w], u [ceil(h/2),ceil(w/2)], v, {matrix, range}, result)", image_types,
     "[h,w,3], f32, f16 or u8", "as nv12_to_rgb", "as nv12_to_rgb"},
    {"rgb_to_nv12(rgb [h,w,3 or 4], {matrix, range}, result)", image_types,
     "y [h,w] and uv [ceil(h/2),ceil(w/2),2], f32, f16 or u8", "1e-5; u8 exact on the standards' colours",
     "chroma is the mean of a block"},
    {"rgb_to_yuv420(rgb [h,w,3 or 4], {matrix, range}, result)", image_types,
     "y [h,w], u and v [ceil(h/2),ceil(w/2)], f32, f16 or u8", "as rgb_to_nv12", "as rgb_to_nv12"},
    {"separable_filter(image, row [taps], column [taps], border)", "f32 f16 u8; taps f32 f16", same_image,
     "1e-5 over [-1, 1]", "or the numbers of the taps, an odd count of them"},
    {"gaussian_blur(image, sigma, border)", image_types, same_image, "1e-5 over [0, 1]", "out to three sigma"},
    {"sobel(image, border)", image_types, "x and y of the image's shape, the same type; f32 of u8",
     "exact on whole numbers", "times 8"},
    {"histogram(image, bins, low, high)", image_types, "[batch,channels,bins] or [channels,bins], i32", "exact",
     "what lies outside, and NaN, is not counted"},
};

inline constexpr OpRow tensor_rows[] = {
    {"x.cast(dtype)", every_type, "x's shape, that type", "exact",
     "float to integer truncates and saturates, NaN becomes 0; integers wrap; boolean is x != 0"},
    {"x.to(context)", every_type, "the shape and type of x, on the other context", "exact",
     "on the device where the drivers can share memory, else through the host"},
    {"x.reshape(shape)", every_type, "`shape`, the same type", "exact", "a view: no data moves"},
};

inline constexpr OpRow context_rows[] = {
    {"context.tensor(shape, values)", "", "`shape`, the type of the values", "exact",
     "the values are copied at once and uploaded when first needed"},
    {"context.zeros(shape, dtype)", "", "`shape`, any type", "exact", "costs nothing where pointwise work reads it"},
    {"context.full(shape, value, dtype)", "", "`shape`, any type", "exact",
     "as zeros; a number that an integer type lacks is an error"},
};

inline constexpr OpRow custom_rows[] = {
    {"map_kernel(expression, arguments)", "the types of the functions in it", "as its operations give",
     "that of its operations", "fuses like the operators"},
    {"run_custom(context, kernel, run)", every_type, "the outputs by name", "yours",
     "WGSL on webgpu, GLSL on gles, a function on the cpu; `define_kernel` compiles ahead of the first run"},
};

inline constexpr Section sections[] = {
    {"Making tensors", "tessera/context.h",
     "The sizes of a shape, zeros left out, multiply to at most 2147483647: whatever would make a larger one, a result "
     "of stretching included, is an invalid_argument. Further below: ranges, unit matrices and random numbers.",
     context_rows},
    {"Types and shapes", "tessera/tensor.h", "These cost no kernel of their own.", tensor_rows},
    {"Reductions", "tessera/reduce.h",
     "Over any axes; none given means all of them. f16 is summed in f32, i8 and u8 in i32. The same device gives the "
     "same bits each time.",
     reduce_rows},
    {"Products of matrices", "tessera/matmul.h",
     "f16 sums in f32, integers wrap; a sum over no elements is 0. Pointwise work afterwards is part of the kernel.",
     matmul_rows},
    {"Attention", "tessera/attention.h",
     "Computed in f32 whatever the type, in memory that is in proportion to the operands.", attention_rows},
    {"Fourier transforms", "tessera/fft.h",
     "Along one axis, computed in f32. Complex numbers are a last axis of two. The work grows with n log n.", fft_rows},
    {"Convolutions", "tessera/conv.h",
     "Filters are not flipped. f16 sums in f32, integers wrap. Bias and activation are part of the kernel.", conv_rows},
    {"Pooling", "tessera/pooling.h", "Images of one to three spatial axes.", pooling_rows},
    {"Softmax and normalisations", "tessera/row.h", "Computed in f32 whatever the type.", row_rows},
    {"Other shapes and orders, joins", "tessera/gather.h",
     "The bits of elements are moved unchanged. Views have no kernel of their own where pointwise work reads them.",
     shape_rows},
    {"Look-ups, and what is made of indices", "tessera/gather.h",
     "Indices are i32; negative ones count from the end, but in one_hot.", gather_rows},
    {"Scans", "tessera/scan.h", "The work is in proportion to the number of elements.", scan_rows},
    {"Sorting", "tessera/sort.h", "Equal elements keep their order.", sort_rows},
    {"Quantisation", "tessera/quantize.h",
     "value = (integer - zero point) * scale, with one scale, or one for each channel of an axis. Half to even, "
     "saturating, NaN becomes 0. No device divides by so small a scale that numbers below 2^-126, which some take for "
     "zeros, would come to more than 0.",
     quantize_rows},
    {"Random numbers", "tessera/random.h",
     "Philox 4x32-10 of a seed and the element's index: the same call gives the same tensor.", random_rows},
    {"Images", "tessera/image.h",
     "An image is [batch,height,width,channels] or [height,width,channels]. u8 images compute in f32, round half to "
     "even and saturate.",
     image_rows},
    {"Kernels of your own", "tessera/custom.h", "See the header for what a kernel's source may use.", custom_rows},
};

}  // namespace tessera::docs
