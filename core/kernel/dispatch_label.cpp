#include "core/kernel/dispatch_label.h"

#include "core/kernel/custom_call.h"

namespace tessera {

std::string_view label_of(const Dispatch& dispatch) {
  if (dispatch.custom) return dispatch.custom->kernel->name;
  if (dispatch.pass) return dispatch.output ? "import from the host" : "export to the host";
  if (dispatch.pixel_kernel) return dispatch.pixel_kernel->label;
  return dispatch.kernel->label;
}

}  // namespace tessera
