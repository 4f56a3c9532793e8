# One place for compile options: targets link it privately; it is never exported.
add_library(vtrain_options INTERFACE)
target_compile_features(vtrain_options INTERFACE cxx_std_20)
target_compile_options(vtrain_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  # g++ 12 reports std::string's own code (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

# vtrain_room(<name> SOURCES … HEADERS … [USES <room>…] [LINKS <library>…])
# A room of the house: the library vtrain_<name>, alias vtrain::<name>. HEADERS are its public headers, installed to
# include/vtrain/<name>/. USES names the rooms it may include (public), LINKS third-party libraries (private).
function(vtrain_room name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;USES;LINKS" ${ARGN})
  add_library(vtrain_${name} STATIC ${arg_SOURCES})
  add_library(vtrain::${name} ALIAS vtrain_${name})
  target_compile_features(vtrain_${name} PUBLIC cxx_std_20)
  target_sources(vtrain_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  foreach(room IN LISTS arg_USES)
    target_link_libraries(vtrain_${name} PUBLIC vtrain::${room})
  endforeach()
  target_link_libraries(vtrain_${name} PRIVATE ${arg_LINKS} $<BUILD_INTERFACE:vtrain_options>)
  target_compile_options(vtrain_${name} PRIVATE $<$<BOOL:${VTRAIN_WERROR}>:-Werror>)
  set_target_properties(vtrain_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()
