# Tests. A suite is one doctest executable; CTest runs each of its cases in a process of its own, since SimGrid
# allows one simulation in a process.

# Words that a doctest TEST_SUITE may name to give its cases another label than `unit`.
set(VTRAIN_TEST_LABELS scenario schedule contention profiler slow gpu slurm)

# vtrain_test_suite(<room> SOURCES <unit>_test.cpp … [LINKS <library>…])
# The executable vtrain_<room>_tests. Sources are relative to tests/<room>/. A case is called "<room>: <its sentence>".
function(vtrain_test_suite room)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${room}/ REGEX "^[^/]")
  set(target vtrain_${room}_tests)
  add_executable(${target} ${arg_SOURCES})
  # Each file of tests has helpers of its own, so a unity build leaves tests alone.
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE vtrain_test_main ${arg_LINKS})
  # Tests are compiled twice as fast without much optimisation; what they test is not affected.
  target_compile_options(${target} PRIVATE $<$<BOOL:${VTRAIN_WERROR}>:-Werror> $<$<CONFIG:RelWithDebInfo>:-O1> $<$<CONFIG:Debug>:-O0>)
  target_precompile_headers(${target} PRIVATE <doctest/doctest.h> <algorithm> <filesystem> <fstream> <map> <optional>
    <sstream> <string> <string_view> <vector>)
  target_compile_definitions(${target} PRIVATE
    VTRAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VTRAIN_BINARY="$<TARGET_FILE:vtrain>")
  add_dependencies(${target} vtrain vtrain_simgrid_engine)

  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.cmake)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DEXECUTABLE=$<TARGET_FILE:${target}> -DPREFIX=${room} -DOUTPUT=${list}
      "-DLABELS=${VTRAIN_TEST_LABELS}" -P ${PROJECT_SOURCE_DIR}/cmake/discover_tests.cmake
    BYPRODUCTS ${list} VERBATIM)
  vtrain_ctest_include(${list} ${target})
endfunction()

# Lets CTest read `list` when it starts; a suite that was not built is reported as a test that cannot run.
function(vtrain_ctest_include list name)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
  file(WRITE ${include} "if(EXISTS [==[${list}]==])\n  include([==[${list}]==])\nelse()\n"
    "  add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
