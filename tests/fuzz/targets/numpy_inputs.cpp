#include "fuzz/targets/numpy_inputs.h"

#include <fmt/format.h>
#include <zlib.h>

#include "assay/tensor.h"
#include "fuzz/targets/target.h"
#include "tensor/npy.h"
#include "tensor/zip_format.h"

namespace assay::fuzz {
namespace {

std::string npy_of(const Tensor& t) {
  std::string out;
  write_npy(t, [&](const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); });
  return out;
}

std::string deflated(const std::string& content) {
  std::string out(compressBound(content.size()) + 16, '\0');
  z_stream z{};
  deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

uint32_t checksum(const std::string& bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The fields that both records of an entry have in common, from the version on.
std::string common_fields(const ZipEntry& e, const std::string& stored) {
  std::string out;
  zip::append(out, uint16_t{20});
  zip::append(out, uint16_t{0});
  zip::append(out, static_cast<uint16_t>(e.deflated ? zip::kDeflated : zip::kStored));
  zip::append(out, uint32_t{0});
  zip::append(out, checksum(e.content));
  zip::append(out, static_cast<uint32_t>(stored.size()));
  zip::append(out, static_cast<uint32_t>(e.claimed < 0 ? static_cast<int64_t>(e.content.size()) : e.claimed));
  zip::append(out, static_cast<uint16_t>(e.name.size()));
  zip::append(out, uint16_t{0});
  return out;
}

std::string directory_record(const ZipEntry& e, const std::string& stored, size_t offset) {
  std::string out = zip::mark_text(zip::kDirectoryMark);
  zip::append(out, uint16_t{20});
  out += common_fields(e, stored);
  out.append(10, '\0');
  zip::append(out, static_cast<uint32_t>(offset));
  return out + e.name;
}

std::string end_record(size_t count, size_t bytes, size_t offset) {
  std::string out = zip::mark_text(zip::kEndMark);
  zip::append(out, uint32_t{0});
  zip::append(out, static_cast<uint16_t>(count));
  zip::append(out, static_cast<uint16_t>(count));
  zip::append(out, static_cast<uint32_t>(bytes));
  zip::append(out, static_cast<uint32_t>(offset));
  zip::append(out, uint16_t{0});
  return out;
}

}  // namespace

std::string npy_stream(std::string_view dict, std::string_view data, int version) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(dict.size() >> (8 * i));
  return out.append(dict).append(data);
}

std::string random_npy(Random& r) {
  const std::string order = r.one_of<const char*>({"<", ">", "|", "=", ""});
  const char* const kinds[] = {"f2", "f4",  "f8", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "b1",
                               "c8", "c16", "U1", "U3", "S1", "S4", "U0", "S0", "?",  "O",  "V2"};
  std::string shape = "(";
  size_t elements = 1;
  for (size_t axes = r.below(4); axes > 0; --axes) {
    const size_t extent = r.chance(2) ? r.next() : r.below(4);
    elements *= std::min<size_t>(extent, 64);
    shape += fmt::format("{}, ", extent);
  }
  const std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': {}), }}{}", order,
                                       kinds[r.below(std::size(kinds))], r.chance(50) ? "True" : "False",
                                       shape, r.chance(50) ? "\n" : "");
  std::string data;
  for (size_t i = std::min<size_t>(elements * r.one_of<size_t>({1, 2, 4, 8, 12, 16}), 400); i > 0; --i)
    data += static_cast<char>(r.chance(60) ? 0 : r.next());
  return npy_stream(dict, data, static_cast<int>(r.one_of({1, 1, 1, 2, 3})));
}

std::vector<std::string> npy_seeds() {
  std::vector<std::string> list = {npy_of(Tensor::vector(std::vector<float>{1, 2, 3})),
                                   npy_of(Tensor::vector(std::vector<std::string>{"a", "", "xyz"})),
                                   npy_of(Tensor::zeros(DType::kComplex128, Shape{2, 0, 3})),
                                   npy_of(Tensor::zeros(DType::kBool, Shape{}))};
  const auto add = [&](std::string_view dict, size_t data) {
    list.push_back(npy_stream(dict, std::string(data, '\1')));
  };
  add("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", 12);
  add("{'descr': '>U2', 'fortran_order': True, 'shape': (2, 2), }", 32);
  // Found: no element, yet room for one was taken.
  add("{'descr': '<U1073741824', 'fortran_order': False, 'shape': (0,), }", 0);
  add("{'descr': '|S0', 'fortran_order': False, 'shape': (65536,), }", 0);
  return list;
}

std::string zip_archive(const std::vector<ZipEntry>& entries) {
  std::string out, directory;
  for (const ZipEntry& e : entries) {
    const std::string stored = e.deflated ? deflated(e.content) : e.content;
    directory += directory_record(e, stored, out.size());
    out += zip::mark_text(zip::kLocalMark) + common_fields(e, stored) + e.name + stored;
  }
  const size_t offset = out.size();
  return out + directory + end_record(entries.size(), directory.size(), offset);
}

std::string zip_with_shared_data(const std::string& content) {
  const ZipEntry e{.name = "a.npy", .content = content, .deflated = true};
  const std::string stored = deflated(content);
  const std::string local = zip::mark_text(zip::kLocalMark) + common_fields(e, stored) + e.name + stored;
  ZipEntry other = e;
  other.name = "b.npy";
  const std::string directory = directory_record(e, stored, 0) + directory_record(other, stored, 0);
  return local + directory + end_record(2, directory.size(), local.size());
}

std::string random_npz(Random& r) {
  std::vector<ZipEntry> entries;
  for (size_t n = 1 + r.below(3); n > 0; --n) {
    ZipEntry e{.name = fmt::format("x{}{}", n, r.chance(80) ? ".npy" : ""),
               .content = random_npy(r),
               .deflated = r.chance(60)};
    if (r.chance(30)) mutate_bytes(e.content, r, kNumpyWords);
    if (r.chance(10)) e.claimed = static_cast<int64_t>(r.below(2 * e.content.size() + 2));
    entries.push_back(std::move(e));
  }
  return zip_archive(entries);
}

std::vector<std::string> npz_seeds() {
  const std::string x = npy_of(Tensor::vector(std::vector<float>{1, 2, 3}));
  const std::string s = npy_of(Tensor::vector(std::vector<std::string>{"a", "bc"}));
  std::vector<std::string> list = {zip_archive({{"x.npy", x}}),
                                   zip_archive({{"x.npy", x, true}, {"s.npy", s, true}, {"y.npy", x}}),
                                   zip_archive({})};
  // Found: a header that claims to be shorter than the bytes before it; inflating wrote over the stack.
  for (const int length : {0, 1}) {
    std::string stream = npy_stream(std::string(static_cast<size_t>(length), '{'), std::string(300, '\x41'));
    list.push_back(zip_archive({{"x.npy", stream, true}}));
    list.push_back(zip_archive({{"x.npy", stream.substr(0, 10), true}}));
    list.push_back(zip_archive({{"x.npy", stream, true, 11}}));
  }
  // Found: many entries that are all the same bytes.
  list.push_back(zip_with_shared_data(x));
  // Found: no element, yet room for one was taken.
  list.push_back(zip_archive(
      {{"x.npy", npy_stream("{'descr': '<U1073741824', 'fortran_order': False, 'shape': (0,), }", {}),
        true}}));
  return list;
}

}  // namespace assay::fuzz
