// Inputs for the targets that read NumPy's formats: .npy streams, and .npz archives of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/random.h"

namespace assay::fuzz {

inline constexpr std::string_view kNumpyWords[] = {"\x93NUMPY\x01",
                                                   "\x93NUMPY\x02",
                                                   "'descr': ",
                                                   "'fortran_order': ",
                                                   "'shape': ",
                                                   "True",
                                                   "False",
                                                   "(",
                                                   ",)",
                                                   "()",
                                                   "'<f4'",
                                                   "'>f8'",
                                                   "'<U5'",
                                                   "'>U1'",
                                                   "'<U0'",
                                                   "'|S0'",
                                                   "'|S3'",
                                                   "'<U1099511627776'",
                                                   "'|b1'",
                                                   "'>c16'",
                                                   "'|O'",
                                                   "(0,)",
                                                   "(0, 4294967296, 4294967296)",
                                                   "(9223372036854775807,)",
                                                   "PK\x01\x02",
                                                   "PK\x03\x04",
                                                   "PK\x05\x06",
                                                   "PK\x06\x06",
                                                   "PK\x06\x07"};

/// A stream: magic, length and dict as given, whatever they are, and data.
std::string npy_stream(std::string_view dict, std::string_view data, int version = 1);
/// A stream whose dict and data fit more often than not.
std::string random_npy(Random& random);
std::vector<std::string> npy_seeds();

/// An entry of an archive.
struct ZipEntry {
  std::string name, content;
  bool deflated = false;
  int64_t claimed = -1;  ///< the size that the directory says; -1: the true one
};
std::string zip_archive(const std::vector<ZipEntry>& entries);
/// Two entries of the directory that share the data of one.
std::string zip_with_shared_data(const std::string& content);
/// An archive of random streams, some of which are damaged before they are packed.
std::string random_npz(Random& random);
std::vector<std::string> npz_seeds();

}  // namespace assay::fuzz
