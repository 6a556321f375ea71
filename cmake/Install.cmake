# cmake --install: headers, the library, its CMake package, and the default Dawn and ANGLE. Everything is found relative to
# the library, so the prefix can move:
#   lib/libtessera.so
#   lib/tessera/libwebgpu_wrapper.so  Dawn, which is linked: lib/tessera is in the run path of whoever links tessera
#   lib/tessera/include               Dawn's webgpu.h, for those who link tessera::dawn
#   lib/tessera/angle                 ANGLE, SwiftShader and their Vulkan loader, opened by their full paths: the folder is
#                                     in no run path, and not beside Dawn, which would take that loader for the system's
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
set(bundle_dir "${CMAKE_INSTALL_LIBDIR}/tessera")

install(DIRECTORY core/include/tessera DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS tessera EXPORT tesseraTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION "${package_dir}")

if(tessera_uses_default_dawn)
  install(FILES "${TESSERA_DEPS_DIR}/dawn/lib/libwebgpu_wrapper.so" DESTINATION "${bundle_dir}")
  install(DIRECTORY "${TESSERA_DEPS_DIR}/dawn/include" DESTINATION "${bundle_dir}")
endif()
if(tessera_uses_default_angle)
  install(DIRECTORY "${TESSERA_DEPS_DIR}/angle" DESTINATION "${bundle_dir}")
endif()

configure_package_config_file(cmake/tesseraConfig.cmake.in "${PROJECT_BINARY_DIR}/tesseraConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" PATH_VARS bundle_dir)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tesseraConfig.cmake" "${PROJECT_BINARY_DIR}/tesseraConfigVersion.cmake"
  DESTINATION "${package_dir}")
