// Windows that slide over images with up to three spatial axes, 0 the innermost: what conv and pool share.
// core/ops/window.h defines the words, which come first among theirs; their option_0 counts the axes.

// A parameter of a spatial axis: 0 and 1 the sizes of image and result, 2 taps, 3 stride, 4 dilation, 5 padding before.
fn window_word(axis: i32, which: i32) -> i32 { return i32(core_word(u32(2 + 6 * axis + which))); }

// Axes that the image lacks need no loop.
fn window_taps(axis: i32) -> i32 {
  if (axis >= option_0) { return 1; }
  return window_word(axis, 2);
}

// Where four elements of the result are.
struct WindowPlace { channel: vec4u, batch: vec4i, plane: vec4i, row: vec4i, column: vec4i }
fn window_place(element: vec4u) -> WindowPlace {
  var window: WindowPlace;
  window.channel = element % core_word(1u);
  var rest: vec4u = element / core_word(1u);
  let width: u32 = u32(window_word(0, 1));
  window.column = vec4i(rest % width);
  rest = rest / width;
  window.row = vec4i(0);
  window.plane = vec4i(0);
  if (option_0 > 1) {
    let height: u32 = u32(window_word(1, 1));
    window.row = vec4i(rest % height);
    rest = rest / height;
  }
  if (option_0 > 2) {
    let depth: u32 = u32(window_word(2, 1));
    window.plane = vec4i(rest % depth);
    rest = rest / depth;
  }
  window.batch = vec4i(rest);
  return window;
}

// Where a tap of windows `at` meets the image along an axis; -1 in the padding.
fn window_along(axis: i32, at: vec4i, tap: i32) -> vec4i {
  if (axis >= option_0) { return vec4i(0); }
  let along: vec4i = at * window_word(axis, 3) + vec4i(tap * window_word(axis, 4) - window_word(axis, 5));
  let inside: vec4<bool> = both(gti(along, vec4i(-1)), lti(along, vec4i(window_word(axis, 0))));
  return picki(inside, along, vec4i(-1));
}

fn window_inside(plane: vec4i, row: vec4i, column: vec4i) -> vec4<bool> {
  return gti(min(min(plane, row), column), vec4i(-1));
}

// Which pixel of the image that is; any pixel for a place in the padding.
fn window_pixel(batch: vec4i, plane: vec4i, row: vec4i, column: vec4i) -> vec4u {
  var pixel: vec4i = batch;
  if (option_0 > 2) { pixel = pixel * window_word(2, 0) + max(plane, vec4i(0)); }
  if (option_0 > 1) { pixel = pixel * window_word(1, 0) + max(row, vec4i(0)); }
  return vec4u(pixel * window_word(0, 0) + max(column, vec4i(0)));
}
