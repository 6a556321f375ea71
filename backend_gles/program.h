// Programs: one triangle over the whole viewport, and a fragment shader.
#pragma once
#include <memory>
#include <string>

#include "backend_gles/handle.h"

namespace tessera::gles {

// The context is current. Throws compile_failed with the driver's words; `what` names the program in there.
Program link_program(std::shared_ptr<const Device>, const std::string& fragment_text, const std::string& what);

}  // namespace tessera::gles
