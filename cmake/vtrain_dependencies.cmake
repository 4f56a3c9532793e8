# Everything the project builds with. Debian bookworm's versions are the floor.
find_package(SimGrid 3.32 REQUIRED)          # FindSimGrid.cmake -> SimGrid::SimGrid
find_package(yaml-cpp 0.7 REQUIRED)          # 0.7 exports "yaml-cpp", 0.8 "yaml-cpp::yaml-cpp"
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(fmt 9 REQUIRED)                 # before spdlog, which links fmt::fmt
find_package(spdlog 1.10 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED)            # headers only: Boost.Graph -> Boost::headers
find_package(Eigen3 3.4 REQUIRED NO_MODULE)  # headers only: the linear algebra of the calibration fit
find_package(Libmd REQUIRED)                 # FindLibmd.cmake -> Libmd::Libmd (SHA-256)

# CUPTI: headers only. The library and the driver are opened at run time, so one binary serves machines with and
# without a GPU; the CUDA language is never enabled.
set(VTRAIN_HAVE_CUPTI OFF)
if(NOT VTRAIN_WITH_CUPTI STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cupti)
    set(VTRAIN_HAVE_CUPTI ON)
  elseif(VTRAIN_WITH_CUPTI STREQUAL "ON")
    message(FATAL_ERROR "VTRAIN_WITH_CUPTI=ON but the CUDA toolkit with CUPTI was not found; set CUDAToolkit_ROOT")
  endif()
endif()
