# Programs for 64-bit Windows, made on Debian (g++-mingw-w64-x86-64-posix) and run there by Wine, which needs no display.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix) # with std::thread
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Where Windows finds the libraries of the compiler, and tessera's.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++-6.dll OUTPUT_VARIABLE runtime
  OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(runtime "${runtime}" DIRECTORY)
set(CMAKE_CROSSCOMPILING_EMULATOR env WINEDEBUG=-all "WINEDLLOVERRIDES=mscoree=,mshtml="
  "WINEPREFIX=${CMAKE_BINARY_DIR}/wine"
  "WINEPATH=${CMAKE_BINARY_DIR}\\;${CMAKE_BINARY_DIR}/models\\;${runtime}\\;/usr/x86_64-w64-mingw32/lib" wine)
