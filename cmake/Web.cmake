# How programs for web pages are compiled and linked. Both of the newer choices are those of the preset web-jspi.
set(TESSERA_WEB_EXCEPTIONS "-fexceptions" CACHE STRING "-fexceptions, which every browser has, or -fwasm-exceptions")
option(TESSERA_WEB_JSPI "Programs that wait are suspended by the browser (JSPI), not by code of their own (Asyncify)" OFF)
add_compile_options(${TESSERA_WEB_EXCEPTIONS}
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/core/platform/web/libcxx13.h>")
add_link_options(${TESSERA_WEB_EXCEPTIONS} -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 -sALLOW_MEMORY_GROWTH=1
  -sTOTAL_STACK=4194304 -sENVIRONMENT=web -sNO_EXIT_RUNTIME=1 -sEXPORTED_FUNCTIONS=_main,_malloc,_free
  -sDISABLE_DEPRECATED_FIND_EVENT_TARGET_BEHAVIOR=1 -Wno-limited-postlink-optimizations)
if(TESSERA_WEB_JSPI)
  add_compile_options(-Wno-version-check) # Emscripten 5.0.7 names LLVM 23; Debian has 22, which does
  add_link_options(-Wno-version-check)
endif()

# tessera_waits_in_pages(TARGET BYTES EXPORTS...): a program that may wait for its device: in main and in these functions,
# whose names may have a *. With Asyncify, BYTES is for the calls that are suspended.
function(tessera_waits_in_pages target bytes)
  if(TESSERA_WEB_JSPI)
    target_link_options(${target} PRIVATE -sJSPI -Wno-experimental)
    if(ARGN)
      list(JOIN ARGN "," exports)
      target_link_options(${target} PRIVATE "-sJSPI_EXPORTS=${exports}")
    endif()
  else()
    target_link_options(${target} PRIVATE -sASYNCIFY -sASYNCIFY_STACK_SIZE=${bytes})
  endif()
endfunction()
