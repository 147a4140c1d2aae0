# SPDX-License-Identifier: Apache-2.0
# Every outside package, found once: by the build, and by find_package(rhino) where it is installed.
# Afterwards these targets exist: fmt::fmt spdlog::spdlog CLI11::CLI11 tomlplusplus::tomlplusplus
# nlohmann_json::nlohmann_json protobuf::libprotobuf-lite ZLIB::ZLIB MPI::MPI_C HDF5::HDF5 Kokkos::kokkos
# PkgConfig::hwloc PkgConfig::xxhash PkgConfig::libzip PkgConfig::sleef rhino_external::openblas
# rhino_external::dnnl OpenMP::OpenMP_CXX

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(sleef REQUIRED IMPORTED_TARGET sleef)

# The C interface only: the deprecated C++ bindings would link libmpi_cxx.
find_package(MPI REQUIRED COMPONENTS C)
set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS OMPI_SKIP_MPICXX=1)

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "HDF5 was found without MPI support; install libhdf5-openmpi-dev")
endif()

# The packaged configuration names an include folder that does not exist.
find_package(Kokkos REQUIRED)
set_target_properties(Kokkos::kokkos PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")

# Plain look-ups: the packaged configurations of these drag in OpenCL or give no target.
function(rhino_find_external name library header)
  if(TARGET rhino_external::${name})
    return()
  endif()
  find_library(RHINO_${name}_LIBRARY NAMES ${library} REQUIRED)
  find_path(RHINO_${name}_INCLUDE_DIR NAMES ${header} PATH_SUFFIXES ${ARGN} REQUIRED)
  mark_as_advanced(RHINO_${name}_LIBRARY RHINO_${name}_INCLUDE_DIR)
  add_library(rhino_external::${name} UNKNOWN IMPORTED)
  set_target_properties(rhino_external::${name} PROPERTIES
    IMPORTED_LOCATION "${RHINO_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RHINO_${name}_INCLUDE_DIR}")
endfunction()
rhino_find_external(openblas openblas cblas.h openblas openblas-pthread)
rhino_find_external(dnnl dnnl dnnl.hpp)

# The packaged oneDNN runs on OpenMP; its number of threads is set through this.
find_package(OpenMP REQUIRED COMPONENTS CXX)

if(RHINO_ENABLE_CUDA)
  include("${CMAKE_CURRENT_LIST_DIR}/rhino_cuda.cmake")
endif()
