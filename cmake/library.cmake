# The library: libassay.so and libassay.a, of the same objects that the program is made of, what is installed, and the
# packages. docs/reference/library.md tells users about it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Every module below the command line; in a wheel that one, too (cli/program.h).
set(library_modules ${modules})
if(NOT SKBUILD)
  list(REMOVE_ITEM library_modules assay_cli)
endif()
set(library_objects)
foreach(module IN LISTS library_modules)
  list(APPEND library_objects $<TARGET_OBJECTS:${module}>)
endforeach()

# What they need of others. By plain names where a library has no CMake package, so that what is installed holds on any
# machine that has them.
set(library_dependencies ZLIB::ZLIB PNG::PNG Threads::Threads ${CMAKE_DL_LIBS} dnnl gomp re2 yaml)

foreach(kind shared static)
  string(TOUPPER ${kind} type)
  add_library(library_${kind} ${type} ${library_objects})
  target_include_directories(library_${kind} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(library_${kind} INTERFACE cxx_std_20)
  target_link_libraries(library_${kind} PUBLIC fmt::fmt PRIVATE ${library_dependencies})
  set_target_properties(library_${kind} PROPERTIES OUTPUT_NAME assay LINKER_LANGUAGE CXX)
endforeach()
# The sanitizers' runtime belongs to the program, not to a library.
if(NOT ASSAY_SANITIZE)
  target_link_options(library_shared PRIVATE -Wl,--no-undefined)
endif()
target_link_options(library_shared PRIVATE -Wl,--gc-sections)
set_target_properties(library_shared PROPERTIES EXPORT_NAME assay VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(library_static PROPERTIES EXPORT_NAME assay-static)
# The lean runtime: what runs plans, linked from the modules' archives, of which the linker takes what is asked for. Of their
# symbols those of base and tensor are the interface, with LeanEngine; the others are hidden, and left out where nothing uses them.
add_library(library_runtime SHARED $<TARGET_OBJECTS:assay_lean>)
target_include_directories(library_runtime INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(library_runtime INTERFACE cxx_std_20)
get_target_property(lean_modules assay_lean LINK_LIBRARIES)
list(REMOVE_ITEM lean_modules assay_flags)
target_link_libraries(library_runtime PUBLIC fmt::fmt PRIVATE ${lean_modules})
set(hidden_archives)
foreach(module IN LISTS library_modules)
  if(NOT module MATCHES "^assay_(base|tensor)$")
    list(APPEND hidden_archives lib${module}.a)
  endif()
endforeach()
list(JOIN hidden_archives ":" hidden_archives)
target_link_options(library_runtime PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,${hidden_archives} -Wl,--as-needed)
if(NOT ASSAY_SANITIZE)
  target_link_options(library_runtime PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(library_runtime PROPERTIES OUTPUT_NAME assay_runtime EXPORT_NAME runtime LINKER_LANGUAGE CXX
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# What an extension module needs: headers.
add_library(library_extension INTERFACE)
target_include_directories(library_extension INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(library_extension INTERFACE cxx_std_20)
set_target_properties(library_extension PROPERTIES EXPORT_NAME extension)
add_library(assay::assay ALIAS library_shared)
add_library(assay::assay-static ALIAS library_static)
add_library(assay::runtime ALIAS library_runtime)
add_library(assay::extension ALIAS library_extension)

# After `make demo`, or `make`, there is the program alone: `cmake --install` and CPack build the rest first.
add_custom_target(installed DEPENDS assay library_shared library_static library_runtime extension_openvino)
if(NOT SKBUILD)   # a wheel has its own list of targets
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --config \"\${CMAKE_INSTALL_CONFIG_NAME}\" --target installed
                              RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR \"What is to be installed could not be built: see above, or run cmake --build ${CMAKE_BINARY_DIR} --target installed\")
endif()" ALL_COMPONENTS)
endif()

# runtime: the program and what runs with it; development: what others build with.
install(TARGETS assay RUNTIME COMPONENT runtime)
install(TARGETS library_shared library_runtime EXPORT assay LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS library_static library_extension EXPORT assay ARCHIVE COMPONENT development)
install(DIRECTORY include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
include(cmake/shell_files.cmake)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT runtime)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(EXPORT assay NAMESPACE assay:: DESTINATION ${package_folder} FILE assay-targets.cmake COMPONENT development)
configure_package_config_file(cmake/assay-config.cmake.in ${CMAKE_BINARY_DIR}/generated/assay-config.cmake
                              INSTALL_DESTINATION ${package_folder})
# Before 1.0 the minor number is the one that tells what does not fit together.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/assay-config.cmake ${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)
file(RELATIVE_PATH include_from_pkgconfig ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/generated/assay.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# `cpack -G DEB` in the build folder makes assay_VERSION_ARCH.deb and libassay-dev_VERSION_ARCH.deb.
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR assay)
set(CPACK_PACKAGE_CONTACT "The authors of assay <assay@localhost>")
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME assay)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libassay-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libdnnl-dev, libre2-dev, libyaml-dev, libpng-dev, zlib1g-dev")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Compares backends of neural networks and says which one is wrong
 The program assay and the library that it is made of.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and libraries for programs that use assay
 find_package(assay) and pkg-config find them.")
include(CPack)
