# Dawn and ANGLE: the user's own where given, else the npm packages pinned in third_party. Sets
#   tessera_dawn                    the target to link Dawn with
#   tessera_dawn_instance_features  1 where its WGPUInstanceDescriptor has requiredFeatures (Dawns of July 2025 on)
#   tessera_angle_dir               the folder that ANGLE is loaded from at run time; it is never linked
#   tessera_uses_default_dawn, tessera_uses_default_angle: those are installed along with tessera; the packages are for
#     Linux, elsewhere a user has their own

set(tessera_uses_default_dawn OFF)
set(tessera_uses_default_angle OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  if(TESSERA_WEBGPU AND NOT Dawn_DIR)
    set(tessera_uses_default_dawn ON)
  endif()
  if((TESSERA_WEBGPU OR TESSERA_GLES) AND NOT TESSERA_ANGLE_DIR) # WebGPU uses the SwiftShader in ANGLE's folder
    set(tessera_uses_default_angle ON)
  endif()
endif()

set(tessera_third_party "${PROJECT_SOURCE_DIR}/third_party")
set(tessera_third_party_pins package.json package-lock.json .npmrc layout.mjs)

# Lays out both under TESSERA_DEPS_DIR.
function(tessera_lay_out_third_party)
  find_program(TESSERA_NPM npm REQUIRED)
  find_program(TESSERA_NODE NAMES node nodejs REQUIRED)
  set(install "${TESSERA_DEPS_DIR}/npm")
  file(REMOVE_RECURSE "${install}")
  foreach(input IN LISTS tessera_third_party_pins)
    configure_file("${tessera_third_party}/${input}" "${install}/${input}" COPYONLY)
  endforeach()
  message(STATUS "Fetching Dawn and ANGLE (npm, about 120 MB)")
  execute_process(COMMAND "${TESSERA_NPM}" ci --cache "${install}/cache" --loglevel=error
    WORKING_DIRECTORY "${install}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "npm could not fetch Dawn and ANGLE; with Dawn_DIR and TESSERA_ANGLE_DIR you can give "
      "your own, see third_party/README.md. npm said:\n${errors}")
  endif()
  message(STATUS "Laying out Dawn and ANGLE")
  execute_process(COMMAND "${TESSERA_NODE}" layout.mjs node_modules "${TESSERA_DEPS_DIR}"
    WORKING_DIRECTORY "${install}" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${install}")
  set(is_done ON PARENT_SCOPE)
endfunction()

if(tessera_uses_default_dawn OR tessera_uses_default_angle OR (EMSCRIPTEN AND TESSERA_WEBGPU))
  list(TRANSFORM tessera_third_party_pins PREPEND "${tessera_third_party}/" OUTPUT_VARIABLE tessera_pin_files)
  tessera_once_per_state("${TESSERA_DEPS_DIR}/stamp" tessera_lay_out_third_party ${tessera_pin_files})
endif()

set(tessera_angle_dir "${TESSERA_ANGLE_DIR}")
if(tessera_uses_default_angle)
  set(tessera_angle_dir "${TESSERA_DEPS_DIR}/angle")
endif()

if(tessera_uses_default_dawn)
  set(tessera_dawn tessera::dawn)
  set(tessera_dawn_instance_features 0)
  add_library(tessera::dawn SHARED IMPORTED GLOBAL)
  set_target_properties(tessera::dawn PROPERTIES
    IMPORTED_LOCATION "${TESSERA_DEPS_DIR}/dawn/lib/libwebgpu_wrapper.so"
    IMPORTED_NO_SONAME ON
    INTERFACE_INCLUDE_DIRECTORIES "${TESSERA_DEPS_DIR}/dawn/include")
elseif(TESSERA_WEBGPU AND EMSCRIPTEN)
  # Dawn's header refuses Emscripten, which has one of its own. The functions are backend_webgpu/web's.
  set(tessera_dawn tessera::web_dawn)
  set(tessera_dawn_instance_features 0)
  file(READ "${TESSERA_DEPS_DIR}/dawn/include/webgpu/webgpu.h" header)
  string(REPLACE "#ifdef __EMSCRIPTEN__\n#error" "#if 0\n#error" header "${header}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/dawn/webgpu/webgpu.h" CONTENT "${header}" @ONLY)
  add_library(tessera::web_dawn INTERFACE IMPORTED GLOBAL)
  target_include_directories(tessera::web_dawn INTERFACE "${PROJECT_BINARY_DIR}/dawn")
elseif(TESSERA_WEBGPU)
  find_package(Dawn CONFIG REQUIRED)
  set(tessera_dawn webgpu_dawn)
  if(TARGET dawn::webgpu_dawn)
    set(tessera_dawn dawn::webgpu_dawn)
  endif()

  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES ${tessera_dawn})
  check_cxx_source_compiles([[
    #include <webgpu/webgpu.h>
    int main() { return static_cast<int>(WGPUInstanceDescriptor{}.requiredFeatureCount); }
  ]] TESSERA_DAWN_HAS_INSTANCE_FEATURES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  set(tessera_dawn_instance_features $<BOOL:${TESSERA_DAWN_HAS_INSTANCE_FEATURES}>)
endif()
