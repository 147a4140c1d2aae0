# SPDX-License-Identifier: Apache-2.0
# What every target of this project is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(RHINO_CCACHE ccache)
mark_as_advanced(RHINO_CCACHE)
if(RHINO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache must not insist on, to reuse files that are compiled with a precompiled header.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${RHINO_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Warnings, instruction set and sanitizers of one target.
function(rhino_target_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wno-missing-field-initializers
    # GCC 12 warns without cause inside std::string at -O3.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>>
    # Messages carry paths relative to the source tree, not those of the building machine.
    $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  # GCC 12 warns without cause inside of std::string at -O3.
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<CONFIG:Release>>:-Wno-restrict>)
  # GCC 12 stores wrong values when it packs neighbouring members into vectors (seen with AVX-512: a WindowDim{} got
  # pad_low = 1; tests/unit/kernels/reference/contraction_test.cpp). Loops are vectorised all the same.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-fno-tree-slp-vectorize>)
  if(RHINO_NATIVE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-march=native>)
  endif()
  if(RHINO_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${RHINO_SANITIZE} -fno-sanitize-recover=all>)
    target_link_options(${target} PRIVATE -fsanitize=${RHINO_SANITIZE})
  endif()
endfunction()
