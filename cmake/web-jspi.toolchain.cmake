# Programs for web pages, made by a newer Emscripten than Debian's: third_party/emscripten.json pins its parts, Debian has the
# compiler, and TESSERA_DEPS_DIR gets it when a build is configured. CMake's rules for it are those of Debian's Emscripten.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TESSERA_DEPS_DIR)
set(tessera_emscripten "${TESSERA_DEPS_DIR}/emscripten")
set(tessera_llvm /usr/lib/llvm-22/bin)
set(tessera_emscripten_source "${CMAKE_CURRENT_LIST_DIR}/../third_party")

function(tessera_lay_out_emscripten)
  find_program(TESSERA_NODE NAMES node nodejs REQUIRED)
  if(NOT EXISTS "${tessera_llvm}/clang" OR NOT EXISTS "${tessera_llvm}/wasm-ld")
    message(FATAL_ERROR "The preset web-jspi takes Debian's clang-22, lld-22 and llvm-22, which are missing in ${tessera_llvm}")
  endif()
  message(STATUS "Fetching Emscripten (npm, 130 MB)")
  execute_process(COMMAND "${TESSERA_NODE}" "${tessera_emscripten_source}/lay_out_emscripten.mjs"
      "${tessera_emscripten_source}/emscripten.json" "${tessera_llvm}" "${tessera_emscripten}"
    OUTPUT_QUIET RESULT_VARIABLE failed ERROR_VARIABLE errors)
  if(failed)
    message(FATAL_ERROR "npm could not fetch Emscripten:\n${errors}")
  endif()
  set(is_done ON PARENT_SCOPE)
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/OncePerState.cmake")
tessera_once_per_state("${tessera_emscripten}/stamp" tessera_lay_out_emscripten "${tessera_emscripten_source}/emscripten.json"
  "${tessera_emscripten_source}/lay_out_emscripten.mjs")

set(CMAKE_C_COMPILER "${tessera_emscripten}/emscripten/emcc" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER "${tessera_emscripten}/emscripten/em++" CACHE FILEPATH "")
set(CMAKE_AR "${tessera_emscripten}/emscripten/emar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${tessera_emscripten}/emscripten/emranlib" CACHE FILEPATH "")
include("${CMAKE_CURRENT_LIST_DIR}/web.toolchain.cmake")
