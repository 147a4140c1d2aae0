# SPDX-License-Identifier: Apache-2.0
find_package(GTest REQUIRED CONFIG)

# Several ranks on few cores, as any user, without network and without binding.
set(RHINO_TEST_ENVIRONMENT
  OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,self OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0"
  UBSAN_OPTIONS=print_stacktrace=1
  RHINO_CALIBRATION=none)  # plans must not depend on what this machine was measured to do

# rhino_set_test_properties(<test> [LABELS ...] [TIMEOUT s] [PROCESSORS n])
# What every test has: environment, own working folder, time limit, exit code 77 = skipped.
function(rhino_set_test_properties test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;PROCESSORS" "LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(RHINO_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 8")  # checked code is slower by that much at worst
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  set(folder "${PROJECT_BINARY_DIR}/test_work/${test}")
  file(MAKE_DIRECTORY "${folder}")
  set_tests_properties(${test} PROPERTIES
    WORKING_DIRECTORY "${folder}"
    ENVIRONMENT "${RHINO_TEST_ENVIRONMENT}"
    TIMEOUT ${arg_TIMEOUT}
    PROCESSORS ${arg_PROCESSORS}
    SKIP_RETURN_CODE 77
    LABELS "${arg_LABELS}")
endfunction()

# Options of test code: it is compiled often and run once, and what takes time in it is the library.
function(rhino_test_target_defaults target)
  rhino_target_defaults(${target})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Og>)
endfunction()

# The GoogleTest filter that selects the suites which sources define; empty if they define none.
function(rhino_test_filter result)
  set(filter "")
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(STRINGS "${source}" heads REGEX "^(TEST|TEST_F|TEST_P)\\(")
    foreach(head IN LISTS heads)
      string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1" suite "${head}")
      list(APPEND filter "${suite}.*" "*/${suite}.*")
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES filter)
  list(JOIN filter ":" filter)
  set(${result} "${filter}" PARENT_SCOPE)
endfunction()

# A test program's executable with what all of them share.
function(rhino_add_test_program target)
  add_executable(${target} ${ARGN})
  rhino_test_target_defaults(${target})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests" POSITION_INDEPENDENT_CODE OFF)  # as the precompiled header is
  target_link_libraries(${target} PRIVATE rhino_test_support)
  target_precompile_headers(${target} REUSE_FROM rhino_test_main)
endfunction()

# The program that holds all tests of a folder, with the given sources and libraries added to what it has.
function(rhino_extend_folder_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  if(NOT TARGET ${target})
    rhino_add_test_program(${target} ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    target_link_libraries(${target} PRIVATE rhino_test_main)
  else()
    get_target_property(present ${target} SOURCES)
    list(REMOVE_ITEM arg_SOURCES ${present})
    target_sources(${target} PRIVATE ${arg_SOURCES})
  endif()
  target_link_libraries(${target} PRIVATE ${arg_DEPS})
endfunction()

# rhino_add_test(NAME <folder>.<file> SOURCES <file>_test.cpp ... [DEPS ...] [NP n ...] [LABELS ...] [TIMEOUT s] [ARGS ...]
#                [ALONE])
#
# A GoogleTest program. Without NP it is the ctest entry <name>; with NP it runs under mpiexec as
# <name>.np<n> for each n (main in tests/support: fails if any rank fails). A program of which every
# test was skipped shows as skipped. With RHINO_UNITY the entries of a folder share one program, which is much less to
# compile and link; each runs the suites of its own sources. ALONE: a program of its own in any case.
function(rhino_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ALONE" "NAME;TIMEOUT" "SOURCES;DEPS;NP;LABELS;ARGS")
  if(NOT arg_NAME OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rhino_add_test: NAME and SOURCES are needed; unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REPLACE "." "_" target "test_${arg_NAME}")
  if(arg_NP)
    rhino_add_test_program(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_DEPS} rhino_test_mpi_main)
    foreach(np IN LISTS arg_NP)
      set(test ${arg_NAME}.np${np})
      add_test(NAME ${test}
        COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:${target}> ${arg_ARGS})
      rhino_set_test_properties(${test} LABELS mpi np${np} ${arg_LABELS} PROCESSORS ${np} TIMEOUT ${arg_TIMEOUT})
      # OpenMPI unloads its plug-ins before leaks are reported: theirs cannot be told from ours.
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    endforeach()
    return()
  endif()
  if(RHINO_UNITY AND NOT arg_ALONE)
    string(REGEX REPLACE "[.][^.]*$" "" folder "${arg_NAME}")
    string(REPLACE "." "_" target "test_${folder}")
    rhino_extend_folder_program(${target} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
    rhino_test_filter(filter ${arg_SOURCES})
    if(NOT filter)
      message(FATAL_ERROR "rhino_add_test(${arg_NAME}): its sources define no test")
    endif()
    list(APPEND arg_ARGS "--gtest_filter=${filter}")
  else()
    rhino_add_test_program(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_DEPS} rhino_test_main)
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${target} ${arg_ARGS})
  rhino_set_test_properties(${arg_NAME} LABELS unit ${arg_LABELS} TIMEOUT ${arg_TIMEOUT})
endfunction()
