# SPDX-License-Identifier: Apache-2.0

# With RHINO_UNITY several sources are compiled as one: they share their headers and what those make the compiler do.
function(rhino_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RHINO_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# Code whose time never matters beside that of what it calls: a release build optimises it little, which compiles faster.
function(rhino_cold target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>,$<CONFIG:Release>>:-O1>)
endfunction()

# rhino_add_library(<folder> [COLD] [SOURCES ...] [PUBLIC_DEPS ...] [PRIVATE_DEPS ...])
#
# One library per folder of src/rhino: target rhino_<folder>, alias rhino::<folder> ("/" becomes "_").
# Static unless BUILD_SHARED_LIBS; header-only (INTERFACE) without SOURCES. PUBLIC_DEPS are those whose
# headers appear in this folder's headers.
function(rhino_add_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;PUBLIC_DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rhino_add_library(${folder}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REPLACE "/" "_" name "${folder}")
  set(target rhino_${name})
  if(arg_SOURCES)
    add_library(${target} ${arg_SOURCES})
    set(public PUBLIC)
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
    rhino_target_defaults(${target})
    rhino_unity(${target})
    if(arg_COLD)
      rhino_cold(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(public INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC_DEPS})
  endif()
  add_library(rhino::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY RHINO_LIBRARIES rhino::${name})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${public} cxx_std_20)
  target_include_directories(${target} ${public}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT rhinoTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/rhino/${folder}/"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rhino/${folder}
    FILES_MATCHING PATTERN "*.hpp" PATTERN "detail" EXCLUDE PATTERN "*_internal.hpp" EXCLUDE)
endfunction()

# rhino_add_program(<name> SOURCES ... DEPS ...): an installed program.
function(rhino_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  add_executable(${name} ${arg_SOURCES})
  rhino_target_defaults(${name})
  rhino_unity(${name})
  rhino_cold(${name})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
