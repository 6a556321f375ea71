// Samples of an image, or a volume, at places that tensors say.
#include "models/indices.h"

namespace tessera::onnx {

Tensor pixels_at(const Call& call, const Tensor& image, const std::vector<Tensor>& places,
                 const std::vector<Tensor>& more_indices) {
  const Shape& shape = places.front().shape();
  std::vector<Tensor> indices{broadcast_to(count_along(call, 0, shape.rank(), shape[0]), shape)};
  Tensor is_inside;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double last = static_cast<double>(image.shape()[static_cast<int>(i) + 1] - 1);
    const Tensor fits = logical_and(places[i] >= 0, places[i] <= last);
    is_inside = is_inside.is_empty() ? fits : logical_and(is_inside, fits);
    indices.push_back(clip(places[i], 0, last).cast(DType::i32));
  }
  for (const Tensor& index : more_indices) indices.push_back(broadcast_to(index, shape));
  const Tensor pixels = gather_nd(image, stack(indices, -1));
  for (int axis = shape.rank(); axis < pixels.shape().rank(); ++axis) is_inside = expand_dims(is_inside, -1);
  return where(is_inside, pixels, 0);
}

namespace {

struct Grid {
  bool aligns_corners;
  std::string padding;

  // From -1 … 1 to pixels.
  Tensor to_pixels(const Tensor& place, double size) const {
    return aligns_corners ? (place + 1) * ((size - 1) / 2) : (place + 1) * (size / 2) - 0.5;
  }

  Tensor reflected(const Tensor& place, double size) const {
    const double low = aligns_corners ? 0 : -0.5, length = aligns_corners ? size - 1 : size;
    if (length == 0) return place * 0;
    const Tensor distance = abs(place - low), rest = trunc_mod(distance, length), turns = floor(distance / length);
    return where(trunc_mod(turns, 2) > 0.5, length - rest, rest) + low;
  }

  Tensor inside(const Tensor& place, double size) const {
    if (padding == "border") return clip(place, 0, size - 1);
    if (padding == "reflection") return clip(reflected(place, size), 0, size - 1);
    return place;
  }
};

struct Tap {
  Tensor place, weight;  // an empty weight is 1
};

Tensor cubic_weight(const Tensor& t, int offset) {
  constexpr double a = -0.75;
  const Tensor d = abs(t - offset);
  if (offset == 0 || offset == 1) return ((d * (a + 2) - (a + 3)) * d) * d + 1;
  return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
}

std::vector<Tap> taps_along(const Call& call, const Grid& grid, const std::string& mode, const Tensor& place,
                            double size) {
  if (mode == "nearest") return {{round(grid.inside(place, size)), {}}};
  if (mode == "bilinear" || mode == "linear") {
    const Tensor near = grid.inside(place, size), first = floor(near), t = near - first;
    return {{first, 1 - t}, {first + 1, t}};
  }
  if (mode != "bicubic" && mode != "cubic") call.unsupported("there is no mode '" + mode + "'.");
  const Tensor first = floor(place), t = place - first;
  std::vector<Tap> taps;
  for (int offset = -1; offset < 3; ++offset)
    taps.push_back({grid.inside(first + offset, size), cubic_weight(t, offset)});
  return taps;
}

Results grid_sample(const Call& call) {
  call.expect_rank(0, 4, 5);
  const int rank = call.rank(), axes = rank - 2;
  call.expect_rank(1, rank, rank);
  call.expect(call.shape(1)[-1] == axes && call.shape(1)[0] == call.shape(0)[0],
              "its grid " + call.shape(1).to_string() + " does not fit the image " + call.shape(0).to_string() + ".");
  const Grid grid{call.integer("align_corners", 0) != 0, call.text("padding_mode", "zeros")};
  if (grid.padding != "zeros" && grid.padding != "border" && grid.padding != "reflection")
    call.unsupported("there is no padding mode '" + grid.padding + "'.");
  const Tensor image = call.tensor(0, Order::channels_last);
  const std::vector<Tensor> coordinates = split(call.tensor(1), axes, -1);  // the last axis of the image first
  std::vector<std::vector<Tap>> taps;
  for (int axis = 0; axis < axes; ++axis) {
    const double size = static_cast<double>(image.shape()[axis + 1]);
    const Tensor place = squeeze(coordinates[static_cast<std::size_t>(axes - 1 - axis)], {-1});
    taps.push_back(taps_along(call, grid, call.text("mode", "bilinear"), grid.to_pixels(place, size), size));
  }
  Tensor total;
  std::vector<std::size_t> which(taps.size(), 0);
  for (bool goes_on = true; goes_on;) {
    std::vector<Tensor> places;
    for (std::size_t i = 0; i < taps.size(); ++i) places.push_back(taps[i][which[i]].place);
    Tensor part = pixels_at(call, image, places);
    for (std::size_t i = 0; i < taps.size(); ++i)
      if (const Tensor& weight = taps[i][which[i]].weight; !weight.is_empty()) part = part * expand_dims(weight, -1);
    total = total.is_empty() ? part : total + part;
    std::size_t axis = taps.size();
    while (axis > 0 && ++which[axis - 1] == taps[axis - 1].size()) which[--axis] = 0;
    goes_on = axis > 0;
  }
  return {call.give(total, Order::channels_last)};
}

// theta [batch,2,3] and a size [n,c,h,w], or [batch,3,4] and [n,c,d,h,w]: where each pixel comes from.
Results affine_grid(const Call& call) {
  call.expect_rank(0, 3, 3);
  const Sizes size = call.integers_of(1);
  const std::size_t axes = size.size() - 2;
  call.expect((size.size() == 4 || size.size() == 5) && size[0] == call.shape(0)[0] &&
                  call.shape(0)[1] == static_cast<std::int64_t>(axes) &&
                  call.shape(0)[2] == static_cast<std::int64_t>(axes) + 1,
              "its theta " + call.shape(0).to_string() + " does not fit its size.");
  Sizes plane(size.begin() + 2, size.end());
  for (const std::int64_t extent : plane)
    call.expect(extent >= 1 && extent <= 65536, "its size " + std::to_string(extent) + " is not possible.");
  const bool aligns = call.integer("align_corners", 0) != 0;
  const Shape shape(plane);
  std::vector<Tensor> columns;
  for (std::size_t i = axes; i-- > 0;) {  // the last axis first
    const auto extent = static_cast<double>(plane[i]);
    const Tensor place = count_along(call, static_cast<int>(i), static_cast<int>(axes), plane[i]).cast(DType::f32);
    const Tensor along =
        aligns ? (plane[i] == 1 ? place * 0 : place * (2 / (extent - 1)) - 1) : (place * 2 + 1) * (1 / extent) - 1;
    columns.push_back(broadcast_to(along, shape).reshape({shape.size()}));
  }
  columns.push_back(call.context().full({shape.size()}, 1));
  const Tensor theta = call.tensor(0);
  const Tensor places = matmul(stack(columns, 1).cast(theta.dtype()), theta, {.transpose_b = true});
  Sizes sizes{size[0]};
  sizes.insert(sizes.end(), plane.begin(), plane.end());
  sizes.push_back(static_cast<std::int64_t>(axes));
  return {call.give(places.reshape(Shape(sizes)))};
}

}  // namespace

const Operators& grid_operators() {
  static const Operators rows{{"GridSample", 1, grid_sample}, {"AffineGrid", 20, affine_grid}};
  return rows;
}

}  // namespace tessera::onnx
