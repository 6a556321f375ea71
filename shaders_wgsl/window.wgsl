// Windows that slide over images with up to three spatial axes, 0 the innermost, for conv and pool.
// core/kernel/window_parameters.h has the parameters and options.

// Axes that the image lacks need no loop.
fn window_taps(axis: i32) -> i32 {
  if (axis >= options.axes) { return 1; }
  return parameters.axes[axis].taps;
}

// The places of four elements of the result.
struct WindowPlace { channel: vec4u, batch: vec4i, plane: vec4i, row: vec4i, column: vec4i }
fn window_place(element: vec4u) -> WindowPlace {
  var window: WindowPlace;
  window.channel = element % parameters.result_channels;
  var rest: vec4u = element / parameters.result_channels;
  let width: u32 = u32(parameters.axes[0].result);
  window.column = vec4i(rest % width);
  rest = rest / width;
  window.row = vec4i(0);
  window.plane = vec4i(0);
  if (options.axes > 1) {
    let height: u32 = u32(parameters.axes[1].result);
    window.row = vec4i(rest % height);
    rest = rest / height;
  }
  if (options.axes > 2) {
    let depth: u32 = u32(parameters.axes[2].result);
    window.plane = vec4i(rest % depth);
    rest = rest / depth;
  }
  window.batch = vec4i(rest);
  return window;
}

// The place where a tap of windows `at` meets the image along an axis; -1 in the padding.
fn window_along(axis: i32, at: vec4i, tap: i32) -> vec4i {
  if (axis >= options.axes) { return vec4i(0); }
  let start: vec4i = at * parameters.axes[axis].stride - vec4i(parameters.axes[axis].before);
  let along: vec4i = start + vec4i(tap * parameters.axes[axis].dilation);
  let inside: vec4<bool> = both(gti(along, vec4i(-1)), lti(along, vec4i(parameters.axes[axis].image)));
  return picki(inside, along, vec4i(-1));
}

fn window_inside(plane: vec4i, row: vec4i, column: vec4i) -> vec4<bool> {
  return gti(min(min(plane, row), column), vec4i(-1));
}

// The pixel of the image at a place; any pixel for a place in the padding.
fn window_pixel(batch: vec4i, plane: vec4i, row: vec4i, column: vec4i) -> vec4u {
  var pixel: vec4i = batch;
  if (options.axes > 2) { pixel = pixel * parameters.axes[2].image + max(plane, vec4i(0)); }
  if (options.axes > 1) { pixel = pixel * parameters.axes[1].image + max(row, vec4i(0)); }
  return vec4u(pixel * parameters.axes[0].image + max(column, vec4i(0)));
}
