// Windows that slide over images with up to three spatial axes, 0 the innermost: what conv and pool share.
// core/window.h defines the words, which come first among theirs; their option_0 counts the axes.

// A parameter of a spatial axis: 0 and 1 the sizes of image and result, 2 taps, 3 stride, 4 dilation, 5 padding before.
int window_word(int axis, int which) { return int(core_word(uint(2 + 6 * axis + which))); }

// Axes that the image lacks need no loop.
int window_taps(int axis) {
  if (axis >= option_0) { return 1; }
  return window_word(axis, 2);
}

// Where four elements of the result are.
struct WindowPlace { uvec4 channel; ivec4 batch, plane, row, column; };
WindowPlace window_place(uvec4 element) {
  WindowPlace window;
  window.channel = element % core_word(1u);
  uvec4 rest = element / core_word(1u);
  uint width = uint(window_word(0, 1));
  window.column = ivec4(rest % width);
  rest = rest / width;
  window.row = ivec4(0);
  window.plane = ivec4(0);
  if (option_0 > 1) {
    uint height = uint(window_word(1, 1));
    window.row = ivec4(rest % height);
    rest = rest / height;
  }
  if (option_0 > 2) {
    uint depth = uint(window_word(2, 1));
    window.plane = ivec4(rest % depth);
    rest = rest / depth;
  }
  window.batch = ivec4(rest);
  return window;
}

// Where a tap of windows `at` meets the image along an axis; -1 in the padding.
ivec4 window_along(int axis, ivec4 at, int tap) {
  if (axis >= option_0) { return ivec4(0); }
  ivec4 along = at * window_word(axis, 3) + ivec4(tap * window_word(axis, 4) - window_word(axis, 5));
  bvec4 inside = both(gti(along, ivec4(-1)), lti(along, ivec4(window_word(axis, 0))));
  return picki(inside, along, ivec4(-1));
}

bvec4 window_inside(ivec4 plane, ivec4 row, ivec4 column) {
  return gti(min(min(plane, row), column), ivec4(-1));
}

// Which pixel of the image that is; any pixel for a place in the padding.
uvec4 window_pixel(ivec4 batch, ivec4 plane, ivec4 row, ivec4 column) {
  ivec4 pixel = batch;
  if (option_0 > 2) { pixel = pixel * window_word(2, 0) + max(plane, ivec4(0)); }
  if (option_0 > 1) { pixel = pixel * window_word(1, 0) + max(row, ivec4(0)); }
  return uvec4(pixel * window_word(0, 0) + max(column, ivec4(0)));
}
