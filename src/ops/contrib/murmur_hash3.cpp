// MurmurHash3: the 32-bit hash MurmurHash3_x86_32 of A. Appleby of the bytes of every element, as an unsigned
// number, or for positive = 0 as a signed one.
#include <bit>
#include <cstring>

#include "ops/eval_util.h"
#include "ops/op_list.h"
#include "tensor/convert.h"

namespace assay::op_ms_MurmurHash3 {
namespace {

DType output_type(const OpContext& c) { return c.attr_int("positive") != 0 ? DType::kUInt32 : DType::kInt32; }

void infer(InferContext& c) {
  if (const Dims* in = c.input_dims(0)) return c.set_output(0, output_type(c), *in);
  c.set_output(0, output_type(c));
}

uint32_t scrambled(uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; }

uint32_t hash(const unsigned char* bytes, size_t size, uint32_t seed) {
  uint32_t h = seed;
  for (size_t i = 0; i + 4 <= size; i += 4) {
    uint32_t k;
    std::memcpy(&k, bytes + i, 4);
    h = std::rotl(h ^ scrambled(k), 13) * 5 + 0xe6546b64u;
  }
  uint32_t tail = 0;
  for (size_t i = size; i > size / 4 * 4; --i) tail = tail << 8 | bytes[i - 1];
  h ^= scrambled(tail);
  h ^= static_cast<uint32_t>(size);
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

void eval(EvalContext& c) {
  const auto seed = static_cast<uint32_t>(c.attr_int("seed"));
  // Floats by the bytes of the type that the model declares.
  const Type& declared = c.node().input(0)->type;
  const Tensor x = declared.is_tensor() ? convert(c.input(0), declared.dtype) : c.input(0);
  Tensor y = Tensor::allocate(DType::kUInt32, x.shape());
  uint32_t* to = y.mutable_data<uint32_t>();
  if (x.dtype() == DType::kString) {
    for (const std::string& s : x.span<std::string>())
      *to++ = hash(reinterpret_cast<const unsigned char*>(s.data()), s.size(), seed);
  } else {
    const size_t size = static_cast<size_t>(bit_width(x.dtype())) / 8;
    const auto* bytes = static_cast<const unsigned char*>(x.data());
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = hash(bytes + static_cast<size_t>(i) * size, size, seed);
  }
  c.set_output(0, output_type(c) == DType::kUInt32 ? y : y.bitcast(DType::kInt32));
}

constexpr OpVersion kVersions[] = {
    {1, R"(
in  X: T1
out Y: T2
attr positive: int = 1
attr seed: int = 0
type T1: uint32 int32 uint64 int64 float double string
type T2: uint32 int32)",
     infer, eval},
};

}  // namespace

constinit const OpDef def = {
    .domain = "com.microsoft",
    .name = "MurmurHash3",
    .versions = kVersions,
    .types = EvalTypes::kAsStored,
};

}  // namespace assay::op_ms_MurmurHash3
