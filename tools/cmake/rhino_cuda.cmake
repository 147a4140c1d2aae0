# SPDX-License-Identifier: Apache-2.0
# The parts of CUDA that RHINO_ENABLE_CUDA needs: nvcc, the runtime, NCCL. Afterwards these targets exist: CUDA::cudart
# rhino_external::nccl. Kokkos stays the host one: no distribution package of it has a CUDA backend for CUDA 13.
include(CheckLanguage)

set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}" CACHE FILEPATH "Host compiler of nvcc")
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "RHINO_ENABLE_CUDA is ON, but no CUDA compiler was found. Put nvcc on the PATH, set CUDACXX, or "
                      "configure with another preset than cuda.")
endif()
# 9.0: H100; the first architecture with all that the kernels use.
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "Compute capabilities to compile for")
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know it yet
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)

find_package(CUDAToolkit)
if(NOT TARGET CUDA::cudart)
  message(FATAL_ERROR "RHINO_ENABLE_CUDA is ON, but the CUDA runtime library was not found beside "
                      "${CMAKE_CUDA_COMPILER}. Set CUDAToolkit_ROOT.")
endif()

if(NOT TARGET rhino_external::nccl)
  find_library(RHINO_nccl_LIBRARY NAMES nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  find_path(RHINO_nccl_INCLUDE_DIR NAMES nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(RHINO_nccl_LIBRARY RHINO_nccl_INCLUDE_DIR)
  if(NOT RHINO_nccl_LIBRARY OR NOT RHINO_nccl_INCLUDE_DIR)
    message(FATAL_ERROR "RHINO_ENABLE_CUDA is ON, but NCCL was not found (library: ${RHINO_nccl_LIBRARY}, header: "
                        "${RHINO_nccl_INCLUDE_DIR}). Install it, or set RHINO_nccl_LIBRARY and RHINO_nccl_INCLUDE_DIR.")
  endif()
  add_library(rhino_external::nccl UNKNOWN IMPORTED)
  set_target_properties(rhino_external::nccl PROPERTIES
    IMPORTED_LOCATION "${RHINO_nccl_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${RHINO_nccl_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES CUDA::cudart)
endif()
