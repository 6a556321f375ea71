# One part of the package's test, chosen by PART: install, headers, installed, windows, documents, added.
set(prefix "${WORK_DIR}/prefix")
set(result "${TESSERA_BINARY_DIR}/test-results/package_${PART}.json") # as the test programs write it, for ./test to count

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nfailed (${failed}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# build_consumer(FOLDER OPTION...): configures and builds the project in FOLDER, and runs its program, which gets the prefix.
function(build_consumer folder)
  set(tree "${WORK_DIR}/${folder}")
  file(REMOVE_RECURSE "${tree}")
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${folder}" -B "${tree}" -G "${GENERATOR}"
    "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" ${ARGN})
  run("${CMAKE_COMMAND}" --build "${tree}" --target consumer)
  run("${tree}/consumer" "${prefix}")
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(PART STREQUAL "install")
  # The prefix can move: nothing may remember the first one.
  file(REMOVE_RECURSE "${prefix}" "${prefix}-before")
  run("${CMAKE_COMMAND}" --install "${TESSERA_BINARY_DIR}" --prefix "${prefix}-before")
  file(RENAME "${prefix}-before" "${prefix}")

elseif(PART STREQUAL "headers")
  # The umbrella and each one that it does not include compiles alone, and none leads to a header of Dawn, Vulkan or GL.
  file(GLOB entries RELATIVE "${prefix}/include" "${prefix}/include/*")
  if(NOT entries STREQUAL "tessera")
    message(FATAL_ERROR "installed besides include/tessera: ${entries}")
  endif()
  file(GLOB headers RELATIVE "${prefix}/include" "${prefix}/include/tessera/*.h")
  file(READ "${prefix}/include/tessera/tessera.h" umbrella)
  foreach(header IN LISTS headers)
    if(umbrella MATCHES "<${header}>")
      continue()
    endif()
    run("${COMPILER}" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Werror -H -fsyntax-only "-I${prefix}/include"
      -include "${header}" -x c++ /dev/null)
    if(output MATCHES "[^\n]*/(webgpu|dawn|vulkan|GL|GLES[23]?|EGL|KHR|glad)/[^\n]*")
      message(FATAL_ERROR "${header} includes ${CMAKE_MATCH_0}")
    endif()
  endforeach()

elseif(PART STREQUAL "installed")
  build_consumer(installed "-DCMAKE_PREFIX_PATH=${prefix}")
  if(TESSERA_WEBGPU AND NOT output MATCHES "webgpu:")
    message(FATAL_ERROR "the installed library found no WebGPU device:\n${output}")
  endif()
  if(TESSERA_GLES AND NOT output MATCHES "gles: [^\n]*ANGLE")
    message(FATAL_ERROR "the installed library did not find the ANGLE installed with it:\n${output}")
  endif()

elseif(PART STREQUAL "windows")
  build_consumer(windows "-DCMAKE_PREFIX_PATH=${prefix}" "-DTESSERA_DIR=${TESSERA_SOURCE_DIR}")

elseif(PART STREQUAL "documents")
  set(ENV{GTEST_OUTPUT} "json:${result}")
  build_consumer(documents "-DCMAKE_PREFIX_PATH=${prefix}" "-DTESSERA_DIR=${TESSERA_SOURCE_DIR}")
  return() # its program wrote the result

elseif(PART STREQUAL "added")
  # Built without the GPU backends, which the other parts have, and as a few large sources, so that it is soon done.
  build_consumer(added "-DTESSERA_DIR=${TESSERA_SOURCE_DIR}" -DTESSERA_WEBGPU=OFF -DTESSERA_GLES=OFF
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=100 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
endif()

file(WRITE "${result}" "{\n  \"tests\": 1,\n  \"failures\": 0\n}\n")
