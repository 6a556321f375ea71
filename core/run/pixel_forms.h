// Operations as pixel kernels compute them: the value of a pixel, from values of other pixels.
#pragma once
#include <optional>

#include "core/graph/graph.h"
#include "core/run/pixel_image.h"
#include "core/run/pixel_writer.h"

namespace tessera {

// A single pixel of an item whose few elements are known: kernels take them as parameters.
inline bool has_few_numbers(const GraphItem& item, const PixelImage& read_as) {
  return item.first_number != GraphItem::none && read_as.pixels() == 1;
}

// Whether pixel kernels can compute an item, whose result and operands are images.
bool has_pixel_form(const GraphItem&);

// Whether it is work on images and nothing else: a graph without any is better off with kernels over elements.
bool is_image_work(const GraphItem&);

// The taps of a convolution from an image of four channels to another; none for all else.
std::optional<std::int64_t> taps_of_texels(const GraphItem&);

// Whether an item has pixels of another one, at other places.
bool moves_pixels(const GraphItem&);

// Asks for values of other items, as planning has to answer them.
class PixelReader {
 public:
  virtual ~PixelReader() = default;
  virtual PixelWriter& writer() = 0;
  // A pixel of an operand, which is read as this image.
  virtual PixelRef pixel(const GraphItem::Operand&, const PixelImage&, const PixelSpot&) = 0;
  // The same between pixels, from those around the place unless the reader has another way.
  virtual PixelRef between(const GraphItem::Operand&, const PixelImage&, const PixelsBetween&);
  // Four elements of an operand, at these indices.
  virtual PixelRef elements(const GraphItem::Operand&, const std::array<std::int64_t, 4>& indices) = 0;
};

// A value between the values around it, which `value` gives at a spot.
template <class Value>
PixelRef mixed_between(PixelWriter& writer, const PixelsBetween& place, const Value& value) {
  const auto text = [](PixelRef ref) { return PixelWriter::text(ref); };
  const auto mixed = [&](PixelRef from, PixelRef to, PixelRef share) {
    return writer.vector(DType::f32, text(from) + " + (" + text(to) + " - " + text(from) + ") * " + text(share));
  };
  const auto along = [&](PixelRef row) {
    return mixed(value(PixelSpot{place.left, row}), value(PixelSpot{place.right, row}), place.across);
  };
  const PixelRef in_slice = mixed(along(place.top), along(place.bottom), place.down);
  if (!place.next_slice) return in_slice;
  const PixelsBetween::NextSlice& next = *place.next_slice;
  return mixed(in_slice, mixed(along(next.top), along(next.bottom), place.down), next.inwards);
}

// The value of an item with a pixel form at a place of it.
PixelRef write_pixel_form(PixelReader&, const Graph&, const GraphItem&, const PixelSpot&);

// Whether a pixel is a sum of its operands' pixels, each times a number that is the same for all pixels. Between
// pixels, it is made of its operands' values there, once and not four times.
bool is_linear(const Graph&, const GraphItem&);
PixelRef write_linear_between(PixelReader&, const Graph&, const GraphItem&, const PixelsBetween&);

}  // namespace tessera
