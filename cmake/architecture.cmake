# Code for one architecture is in files of its own: NAME_x86.cpp and NAME_aarch64.cpp are compiled for theirs alone,
# NAME_generic.cpp for every architecture that has none of that name; tests (NAME_x86_test.cpp) alike. Instructions that not every processor has are asked for
# function by function (attributes), as options of a whole file would reach the inline functions that it shares with others.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(ASSAY_ARCHITECTURE x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ASSAY_ARCHITECTURE aarch64)
  # Every processor of this architecture multiplies and adds in one operation, and GCC makes one of a product and a sum, which
  # rounds once where the operators round twice. Kernels that may do so ask for it.
  add_compile_options(-ffp-contract=off)
  # Highway's functions are compiled so, and GCC inlines nothing into a function of fewer instructions. It uses these where they
  # are asked for, which no kernel does.
  set(ASSAY_KERNEL_OPTIONS -march=armv8-a+crypto)
else()
  set(ASSAY_ARCHITECTURE generic)
endif()

# Takes from a list of sources what is for other architectures.
function(keep_own_architecture list)
  set(kept)
  foreach(source IN LISTS ${list})
    if(source MATCHES "^(.*)_(x86|aarch64|generic)(_test)?\\.cpp$" AND NOT CMAKE_MATCH_2 STREQUAL ASSAY_ARCHITECTURE)
      if(NOT CMAKE_MATCH_2 STREQUAL "generic" OR EXISTS "${CMAKE_MATCH_1}_${ASSAY_ARCHITECTURE}${CMAKE_MATCH_3}.cpp")
        continue()
      endif()
    endif()
    list(APPEND kept ${source})
  endforeach()
  set(${list} ${kept} PARENT_SCOPE)
endfunction()
