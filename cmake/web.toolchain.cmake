# Programs for web pages, made by Emscripten: Debian's package has all that it takes. Node finds its modules by NODE_PATH.
find_program(TESSERA_EM_CONFIG em-config REQUIRED)
execute_process(COMMAND "${TESSERA_EM_CONFIG}" EMSCRIPTEN_ROOT OUTPUT_VARIABLE emscripten_root
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
include("${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake")
