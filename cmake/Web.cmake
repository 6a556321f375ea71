# How programs for web pages are compiled and linked.
set(TESSERA_WEB_EXCEPTIONS "-fexceptions" CACHE STRING "-fexceptions, which every browser has, or -fwasm-exceptions")
add_compile_options(${TESSERA_WEB_EXCEPTIONS}
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/core/platform/web/libcxx13.h>")
add_link_options(${TESSERA_WEB_EXCEPTIONS} -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 -sALLOW_MEMORY_GROWTH=1
  -sTOTAL_STACK=4194304 -sENVIRONMENT=web -sNO_EXIT_RUNTIME=1 -sEXPORTED_FUNCTIONS=_main,_malloc,_free
  -sDISABLE_DEPRECATED_FIND_EVENT_TARGET_BEHAVIOR=1 -Wno-limited-postlink-optimizations)
