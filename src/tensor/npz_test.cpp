#include "tensor/npz.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/memory_limit.h"
#include "tensor/npy.h"
#include "tensor/zip_format.h"

namespace assay::npz_test {
namespace {

class Npz : public testing::Test {
 protected:
  Npz()
      : path_((std::filesystem::temp_directory_path() / ("npz_test." + std::to_string(::getpid()) + ".npz"))
                  .string()) {}
  ~Npz() override { std::filesystem::remove(path_); }

  std::string saved(const TensorList& tensors) const {
    save_npz(tensors, path_);
    std::stringstream s;
    s << std::ifstream(path_, std::ios::binary).rdbuf();
    return s.str();
  }
  static std::string error_of(const std::string& bytes) {
    try {
      NpzReader(bytes).load_all();
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }

  std::string path_;
};

const TensorList& samples() {
  static const TensorList list = {{"a", Tensor::from<float>({2, 2}, std::vector<float>{1, 2, 3, 4})},
                                  {"ü/b", Tensor::vector<std::string>({"x", "日"})},
                                  {"empty", Tensor::allocate(DType::kInt8, {0})}};
  return list;
}

/// An archive of one deflated entry.
std::string deflated(const std::string& content, size_t claimed_size) {
  std::string packed(content.size() + 100, '\0');
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);

  const auto crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  using zip::append;
  std::string common;
  append(common, uint16_t{20});
  append(common, uint16_t{0});
  append(common, uint16_t{8});
  append(common, uint32_t{0});
  append(common, crc);
  append(common, static_cast<uint32_t>(packed.size()));
  append(common, static_cast<uint32_t>(claimed_size));
  append(common, uint16_t{5});
  append(common, uint16_t{0});
  std::string out = zip::mark_text(zip::kLocalMark) + common + "x.npy" + packed;
  const std::string directory = zip::mark_text(zip::kDirectoryMark) + std::string("\x14\0", 2) + common +
                                std::string(14, '\0') + "x.npy";
  const auto at = static_cast<uint32_t>(out.size());
  out += directory + zip::mark_text(zip::kEndMark) + std::string(4, '\0') + std::string("\1\0\1\0", 4);
  append(out, static_cast<uint32_t>(directory.size()));
  append(out, at);
  append(out, uint16_t{0});
  return out;
}

std::string npy(const Tensor& t) {
  std::string out;
  write_npy(t, [&](const void* data, size_t bytes) { out.append(static_cast<const char*>(data), bytes); });
  return out;
}

TEST_F(Npz, RoundTrips) {
  const std::string bytes = saved(samples());
  const NpzReader reader(bytes);
  ASSERT_EQ(reader.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(reader.name(i), samples()[i].name);
    EXPECT_TRUE(reader.load(i).identical(samples()[i].tensor));
  }
  EXPECT_EQ(saved(samples()), bytes);
}

TEST_F(Npz, AMappedArrayIsAnAlignedView) {
  saved(samples());
  const NpzReader reader = NpzReader::open(path_);
  const Tensor a = reader.load(0), again = reader.load(0);
  EXPECT_EQ(a.data(), again.data());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0U);
}

TEST_F(Npz, ReadsDeflatedEntries) {
  const Tensor t = Tensor::zeros(DType::kFloat64, {300, 1000});
  const std::string content = npy(t);
  EXPECT_TRUE(NpzReader(deflated(content, content.size())).load(0).identical(t));
  const std::string strings = npy(Tensor::vector<std::string>({"a", "bc"}));
  EXPECT_EQ(NpzReader(deflated(strings, strings.size())).load(0).data<std::string>()[1], "bc");
}

TEST_F(Npz, AnEmptyArchiveHasNoArrays) { EXPECT_EQ(NpzReader(saved({})).size(), 0U); }

TEST_F(Npz, RefusesNamesTwice) {
  NpzWriter writer(path_);
  writer.add("a", Tensor::scalar(1.0));
  EXPECT_THROW(writer.add("a", Tensor::scalar(2.0)), Error);
}

TEST_F(Npz, AnUnfinishedArchiveLeavesNothing) {
  {
    NpzWriter writer(path_);
    writer.add("a", Tensor::scalar(1.0));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Npz, RefusesDamage) {
  const std::string good = saved(samples());
  EXPECT_EQ(error_of(""), "the data is not an .npz archive: it has no zip directory");
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(error_of(good.substr(0, n)), "") << n;
  std::string flipped = good;
  flipped[64 + 128 + 3] ^= 1;
  EXPECT_EQ(error_of(flipped), "the entry 'a' of the .npz archive fails its checksum [in array 'a']");
  const std::string content = npy(Tensor::zeros(DType::kInt8, {1000}));
  EXPECT_EQ(error_of(deflated(content, content.size() + 5)),
            "the .npz archive is damaged: an array's size is not what its header says [in array 'x']");
  EXPECT_EQ(error_of(deflated(content, 0xfffffff0)),
            "the .npz archive is damaged: an entry claims more than it can hold [in array 'x']");
  std::string wrong = deflated(content, content.size());
  wrong[14] ^= 1;  // the local header's checksum is not used
  EXPECT_EQ(error_of(wrong), "");
  wrong[40] ^= 0x55;
  EXPECT_NE(error_of(wrong), "");
}

TEST_F(Npz, RefusesAHeaderShorterThanItsBeginning) {
  for (const char length : {'\0', '\1'}) {
    std::string stream = "\x93NUMPY\x01";
    stream += '\0';
    stream += length;
    stream += '\0';
    stream += '{';
    // Regression: the rest was inflated over the stack.
    const std::string content = stream + std::string(4096, '\x41');
    EXPECT_EQ(error_of(deflated(content, content.size())),
              "the .npz archive is damaged: an array's header is empty [in array 'x']");
  }
}

TEST_F(Npz, RefusesEntriesThatShareBytes) {
  const std::string content = npy(Tensor::zeros(DType::kFloat64, {3000}));
  const std::string one = deflated(content, content.size());
  const size_t directory = one.find("PK\1\2"), end = one.find("PK\5\6");
  const std::string record = one.substr(directory, end - directory);
  const auto archive = [&](const std::string& records, uint16_t count) {
    std::string tail = one.substr(end);
    const auto put = [&](size_t at, uint32_t value, size_t bytes) {
      for (size_t i = 0; i < bytes; ++i) tail[at + i] = static_cast<char>(value >> (8 * i));
    };
    put(8, count, 2);
    put(10, count, 2);
    put(12, static_cast<uint32_t>(records.size()), 4);
    return one.substr(0, directory) + records + tail;
  };
  EXPECT_EQ(error_of(archive(record, 1)), "");
  EXPECT_EQ(error_of(archive(record + record, 2)), "the entries 'x' and 'x' of the .npz archive overlap");
}

TEST_F(Npz, AllArraysTogetherKeepTheMemoryLimit) {
  const Tensor t = Tensor::zeros(DType::kUInt8, {1 << 20});
  const std::string bytes = saved({{"a", t}, {"b", t}});
  set_memory_limit(3 << 19);
  EXPECT_EQ(error_of(bytes),
            "the arrays of the .npz archive take more than the 1572864 bytes that there are");
  set_memory_limit(0);
  EXPECT_EQ(error_of(bytes), "");
}

TEST_F(Npz, RefusesOtherMethodsAndEncryption) {
  std::string bytes = saved({{"a", Tensor::scalar(1.0)}});
  const size_t directory = bytes.find("PK\1\2");
  std::string lzma = bytes, secret = bytes;
  lzma[directory + 10] = 14;
  EXPECT_EQ(
      error_of(lzma),
      "the .npz archive uses zip compression method 14; only stored and deflated are read [in array 'a']");
  secret[directory + 8] |= 1;
  EXPECT_EQ(error_of(secret), "the entry 'a.npy' of the .npz archive is encrypted");
}

}  // namespace
}  // namespace assay::npz_test
