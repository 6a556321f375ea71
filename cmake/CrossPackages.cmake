# What a build for another system takes from this one: sources only. Packages are looked for where that system has its own.
set(cross_sources "${PROJECT_BINARY_DIR}/cross")

# A folder of its own, for beside these headers lie those of this system.
if(NOT nlohmann_json_DIR)
  find_path(TESSERA_NLOHMANN_JSON nlohmann/json.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  mark_as_advanced(TESSERA_NLOHMANN_JSON)
  file(MAKE_DIRECTORY "${cross_sources}/include")
  file(CREATE_LINK "${TESSERA_NLOHMANN_JSON}/nlohmann" "${cross_sources}/include/nlohmann" SYMBOLIC)
  file(CONFIGURE OUTPUT "${cross_sources}/nlohmann_jsonConfig.cmake" @ONLY CONTENT [[
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE "@cross_sources@/include")
]])
  file(WRITE "${cross_sources}/nlohmann_jsonConfigVersion.cmake" "set(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  set(nlohmann_json_DIR "${cross_sources}")
endif()

# GoogleTest, which is compiled for each system anew.
if(TESSERA_BUILD_TESTS AND NOT GTest_DIR)
  set(TESSERA_GOOGLETEST_SOURCES /usr/src/googletest CACHE PATH "GoogleTest's sources, Debian's package googletest")
  function(add_googletest)
    set(BUILD_SHARED_LIBS OFF)
    set(INSTALL_GTEST OFF)
    add_subdirectory("${TESSERA_GOOGLETEST_SOURCES}" "${cross_sources}/googletest" EXCLUDE_FROM_ALL)
  endfunction()
  add_googletest()
  file(WRITE "${cross_sources}/GTestConfig.cmake" "set(GTest_FOUND TRUE) # its targets are there\n")
  set(GTest_DIR "${cross_sources}")
endif()
