# find_package(layoutalg CONFIG REQUIRED) and target_link_libraries(... layoutalg::layoutalg): <layoutalg/descriptor.hpp>.
# It lies in share/cmake/layoutalg, the header in include/layoutalg, of the environment into which layoutalg is installed.
if(NOT TARGET layoutalg::layoutalg)
  get_filename_component(_layoutalg_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(layoutalg::layoutalg INTERFACE IMPORTED)
  target_include_directories(layoutalg::layoutalg INTERFACE "${_layoutalg_prefix}/include")
  target_compile_features(layoutalg::layoutalg INTERFACE cxx_std_17)
  unset(_layoutalg_prefix)
endif()
