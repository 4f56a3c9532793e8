# Installation, find_package(vtrain), and Debian packages. Two components: `runtime` (the command, its engine, examples)
# and `dev` (libraries, headers, CMake files).
set(rooms vtrain_common vtrain_platforms vtrain_core vtrain_jobs vtrain_traces vtrain_schedulers vtrain_cluster vtrain_app)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/vtrain)
set(data_folder ${CMAKE_INSTALL_DATADIR}/vtrain)

# Headers keep their path below the root of the repository: "cluster/simulation.hpp" is include/vtrain/cluster/….
install(TARGETS ${rooms} EXPORT vtrainTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vtrain COMPONENT dev)
install(EXPORT vtrainTargets NAMESPACE vtrain:: DESTINATION ${cmake_folder} COMPONENT dev)
configure_package_config_file(cmake/vtrainConfig.cmake.in vtrainConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(vtrainConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vtrainConfig.cmake ${PROJECT_BINARY_DIR}/vtrainConfigVersion.cmake
    cmake/FindLibmd.cmake
  DESTINATION ${cmake_folder} COMPONENT dev)

install(TARGETS vtrain RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
# cluster/sim_engine.cpp looks for the engine here.
install(TARGETS vtrain_simgrid_engine LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/vtrain COMPONENT runtime)
# As in the repository, so that the examples find the traces.
install(DIRECTORY docs/examples DESTINATION ${data_folder}/docs COMPONENT runtime FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY traces/samples DESTINATION ${data_folder}/traces COMPONENT runtime
  FILES_MATCHING PATTERN "*.csv")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/vtrain RENAME copyright COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libvtrain-dev RENAME copyright COMPONENT dev)

# `install/strip` leaves static libraries alone, since they need their symbols; what they do not need is debugging
# information, which is nine tenths of them.
if(CMAKE_STRIP)
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libvtrain_*.a\")
      execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT dev)
endif()

# The distribution's folders for libraries (lib/x86_64-linux-gnu) are used when configured with
# CMAKE_INSTALL_PREFIX=/usr; otherwise the packages have usr/lib, which works too.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vtrain)
set(CPACK_PACKAGE_VENDOR "the vtrain authors")
set(CPACK_PACKAGE_CONTACT "vtrain developers <vtrain@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME vtrain)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libvtrain-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "vtrain (= ${PROJECT_VERSION}), libyaml-cpp-dev, libfmt-dev, libspdlog-dev, \
libcli11-dev, nlohmann-json3-dev, zlib1g-dev, libmd-dev")
string(REPLACE "Discrete-event" "Libraries of the discrete-event" CPACK_COMPONENT_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION}")
include(CPack)
