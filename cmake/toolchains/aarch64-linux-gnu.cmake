# Debian's cross compiler for aarch64, with the libraries that tools/arm_sysroot.sh puts into a folder, and QEMU to run the result.
#   cmake -S . -B build-arm -G Ninja --toolchain cmake/toolchains/aarch64-linux-gnu.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(ASSAY_ARM_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../../build-arm/sysroot" CACHE PATH "Where tools/arm_sysroot.sh put arm64's libraries")
get_filename_component(sysroot "${ASSAY_ARM_SYSROOT}" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Libraries by their names, and those that libraries need; the compiler has C's and C++'s own.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${sysroot}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${sysroot}/usr/lib/aarch64-linux-gnu -Wl,-rpath-link,${sysroot}/lib/aarch64-linux-gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
# Programs run with the folder given to QEMU: no path of it belongs in them.
set(CMAKE_SKIP_BUILD_RPATH ON)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${sysroot})
