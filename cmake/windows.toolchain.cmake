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

# Debian's packages lld and llvm, where they are there, save most of the time of a build.
find_program(TESSERA_LLD ld.lld)
find_program(TESSERA_LLVM_AR llvm-ar)
find_program(TESSERA_LLVM_RANLIB llvm-ranlib)
mark_as_advanced(TESSERA_LLD TESSERA_LLVM_AR TESSERA_LLVM_RANLIB)
if(TESSERA_LLD)
  foreach(kind EXE SHARED)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-wrapper ${CMAKE_CURRENT_LIST_DIR}/mingw_lld.sh")
  endforeach()
endif()
if(TESSERA_LLVM_AR AND TESSERA_LLVM_RANLIB)
  set(CMAKE_AR "${TESSERA_LLVM_AR}" CACHE FILEPATH "")
  set(CMAKE_RANLIB "${TESSERA_LLVM_RANLIB}" CACHE FILEPATH "")
endif()

# Where Windows finds the libraries of the compiler, and tessera's.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++-6.dll OUTPUT_VARIABLE runtime
  OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(runtime "${runtime}" DIRECTORY)
set(CMAKE_CROSSCOMPILING_EMULATOR env WINEDEBUG=-all "WINEDLLOVERRIDES=mscoree=,mshtml="
  "WINEPREFIX=${CMAKE_BINARY_DIR}/wine"
  "WINEPATH=${CMAKE_BINARY_DIR}\\;${CMAKE_BINARY_DIR}/models\\;${runtime}\\;/usr/x86_64-w64-mingw32/lib" wine)
