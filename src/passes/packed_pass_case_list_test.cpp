// Cases of passes on quantized weights that are too many to be written down: their constants are made.
#include <fmt/format.h>

#include <vector>

#include "passes/pass_cases.h"

namespace assay {
namespace {

/// A constant of 64 rows: int8[64,64] w = {0, 1, ...}.
std::string weights(const char* type, int columns = 64) {
  std::string list;
  // Those of few bits are listed byte by byte.
  const auto bytes = static_cast<int>(storage_bytes(*dtype_from_name(type), int64_t{64} * columns));
  for (int i = 0; i < bytes; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", i * 7 % 100);
  return fmt::format("{}[64,{}] w = {{{}}}", type, columns, list);
}

std::string ones(int count) {
  std::string list = "1";
  for (int i = 1; i < count; ++i) list += ", 1";
  return list;
}

struct Packed {
  const char* pass;
  std::string constants;
  const char *interface, *nodes, *after;
};

const std::vector<Packed>& packed() {
  static const std::vector<Packed> kAll = {
      {"pack_weights", weights("int8") + ", float s = {0.5}", "(float[2,64] x) => (float[2,64] y)",
       "d = DequantizeLinear (w, s) y = MatMul (x, d)",
       "y = com.microsoft.MatMulNBits<K=64, N=64, bits=8, block_size=64>(x, uint8(64, 64), float32(64, 1))"},
      {"pack_weights", weights("int4") + ", float s = {0.5}",
       "(float[64,2] x, float[64] c) => (float[2,64] y)",
       "d = DequantizeLinear (w, s) y = Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (x, d, c)",
       "Transpose<perm=[1, 0]>(x); Mul(c, 2); com.microsoft.MatMulNBits<K=64, N=64, bits=4, "
       "block_size=64>(%0, "
       "uint8(64, 32), float32(64, 1)); Mul(%2, 0.5); y = Add(%3, %1)"},
      // One matrix for the head and the embedding; rows that are not whole blocks are cut.
      {"pack_weights", weights("uint4", 72) + ", float s = {0.5}",
       "(float[2,72] x, int64[3] i) => (float[2,64] y, float[3,72] e)",
       "d = DequantizeLinear (w, s) t = Transpose <perm = [1, 0]> (d) y = MatMul (x, t) e = Gather (d, i)",
       "y = com.microsoft.MatMulNBits<K=72, N=64, bits=4, block_size=32>(x, uint8(64, 48), float32(64, 3), "
       "uint8(64, 2)); com.microsoft.GatherBlockQuantized<bits=4, block_size=32, gather_axis=0, "
       "quantize_axis=1>(uint8(64, 48), i, float32(64, 3), uint8(64, 2)); e = Slice(%1, {0}, {72}, {-1})"},
      // A scale for each of what is added up.
      {"pack_weights", weights("int8") + ", float[64] s = {" + ones(64) + "}",
       "(float[2,64] x) => (float[2,64] y)", "d = DequantizeLinear <axis = 0> (w, s) y = MatMul (x, d)",
       "Mul(x, float32(64,)); y = com.microsoft.MatMulNBits<K=64, N=64, bits=8, block_size=64>(%0, uint8(64, "
       "64), "
       "float32(64, 1))"},
      // The left operand is quantized, too: a product of integers.
      {"pack_weights", weights("int8") + ", float s = {0.5}, uint8 z = {3}",
       "(uint8[2,64] q) => (float[2,64] y)",
       "x = DequantizeLinear (q, s, z) d = DequantizeLinear (w, s) y = MatMul (x, d)", ""},
      // A form that no product reads, and a product that nothing reads packed.
      {"pack_weights", weights("float8e4m3fn") + ", float s = {0.5}", "(float[2,64] x) => (float[2,64] y)",
       "d = DequantizeLinear (w, s) y = MatMul (x, d)", ""},
      {"fold_constants", weights("float8e4m3fn") + ", float s = {0.5}", "(float[2,64] x) => (float[2,64] y)",
       "d = DequantizeLinear (w, s) y = MatMul (x, d)", ""},
      {"fold_constants", weights("float8e4m3fn") + ", float s = {0.5}", "(float[2,64] x) => (float[64,64] y)",
       "d = DequantizeLinear (w, s) z = ReduceMax <keepdims = 0> (x) y = Add (d, z)",
       "ReduceMax<keepdims=0>(x); y = Add(float32(64, 64), %0)"},
  };
  return kAll;
}

}  // namespace

std::span<const PassCase> packed_pass_cases() {
  static const auto* const kTexts = [] {
    auto* texts = new std::vector<std::string>;
    for (const Packed& p : packed())
      texts->push_back(fmt::format("g {} <{}> {{ {} }}", p.interface, p.constants, p.nodes));
    return texts;
  }();
  static const auto* const kCases = [] {
    auto* cases = new std::vector<PassCase>;
    for (size_t i = 0; i < packed().size(); ++i)
      cases->push_back({packed()[i].pass, (*kTexts)[i].c_str(), packed()[i].after, 21});
    return cases;
  }();
  return *kCases;
}

}  // namespace assay
