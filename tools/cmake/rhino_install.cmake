# SPDX-License-Identifier: Apache-2.0
# Install and export: find_package(rhino) in another project.
include(CMakePackageConfigHelpers)

set(rhino_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rhino)
install(EXPORT rhinoTargets NAMESPACE rhino:: DESTINATION ${rhino_config_dir})
configure_package_config_file("${PROJECT_SOURCE_DIR}/tools/cmake/rhinoConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/rhinoConfig.cmake" INSTALL_DESTINATION ${rhino_config_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rhinoConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rhinoConfig.cmake" "${PROJECT_BINARY_DIR}/rhinoConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/tools/cmake/dependencies.cmake"
              "${PROJECT_SOURCE_DIR}/tools/cmake/rhino_cuda.cmake"
        DESTINATION ${rhino_config_dir})
