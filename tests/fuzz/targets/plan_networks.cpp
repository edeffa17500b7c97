#include "fuzz/targets/plan_networks.h"

#include <fmt/format.h>

namespace assay::fuzz {
namespace {

/// A constant of this many different numbers: float[8,4] w = {...}.
std::string weight(const std::string& name, std::initializer_list<int> extents) {
  std::string shape, list;
  int count = 1;
  for (const int e : extents) {
    shape += (shape.empty() ? "" : ",") + std::to_string(e);
    count *= e;
  }
  for (int i = 0; i < count; ++i) list += fmt::format("{}{}", i == 0 ? "" : ",", 0.25 * (i * 7 % 11) - 1);
  return fmt::format("float[{}] {} = {{{}}}", shape, name, list);
}

std::string network(const std::string& interface, std::initializer_list<std::string> constants,
                    const std::string& nodes, int opset = 18) {
  std::string list;
  for (const std::string& c : constants) list += (list.empty() ? "" : ", ") + c;
  return fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> g {} <{}> {{ {} }}", opset, interface, list,
                     nodes);
}

std::vector<std::string> windows() {
  return {
      network("(float[1,8,4,4] x) => (float[1,8,4,4] y)", {weight("w", {8, 8, 3, 3}), weight("b", {8})},
              "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) r = Relu (c) y = Add (r, x)"),
      network("(float[2,3,5,5] x) => (float[2,8,3,3] y)",
              {weight("w", {8, 3, 3, 3}), weight("s", {1, 8, 1, 1})},
              "c = Conv (x, w) m = Mul (c, s) y = Sigmoid (m)"),
      network("(float[1,3,32,32] x) => (float[1,16,1,1] y)", {weight("w", {16, 3, 3, 3}), weight("b", {16})},
              "c = Conv <strides = [2, 2]> (x, w, b) r = Relu (c) y = GlobalMaxPool (r)"),
      network("(float[1,8,16,16] x) => (float[1,2,16,16] y)",
              {weight("w", {2, 8, 3, 3}), weight("b", {2}), weight("f", {2, 1, 1})},
              "c = Conv <pads = [1, 1, 1, 1]> (x, w, b) r = Relu (c) y = Mul (r, f)"),
      network("(float[1,8,5] x) => (float[1,8,2] y)", {weight("w", {8, 1, 3})},
              "y = Conv <group = 8, strides = [2]> (x, w)"),
      network("(float[2,6,9] x) => (float[2,6,9] y)", {weight("w", {6, 1, 3}), weight("b", {6})},
              "c = Conv <group = 6, pads = [4, 0], dilations = [2]> (x, w, b) y = Add (c, x)"),
      network("(float[1,8,3,3] x) => (float[1,8,3,3] y)", {weight("w", {8, 4, 1, 1}), weight("b", {8})},
              "c = Conv <group = 2> (x, w, b) y = Relu (c)"),
      network("(float[1,4,2,3,3] x) => (float[1,6,1,2,2] y)", {weight("w", {6, 2, 2, 2, 2})},
              "y = Conv <group = 2> (x, w)"),
      network("(float[1,8,3,3] x) => (float[1,4,7,7] y)", {weight("w", {8, 4, 3, 3}), weight("b", {4})},
              "c = ConvTranspose <strides = [2, 2]> (x, w, b) y = Relu (c)"),
      network("(float[1,8,4,4] x) => (float[1,8,4,4] y, float[1,8,4,4] z)", {weight("w", {8, 8, 3, 3})},
              "y = Conv <dilations = [3, 3], pads = [3, 3, 3, 3]> (x, w) "
              "c = Conv <dilations = [2, 2], pads = [2, 2, 2, 2]> (x, w) z = LeakyRelu (c)"),
      network("(float[1,64,256] x) => (float[1,64,256] y)", {weight("w", {64, 64, 3}), weight("b", {64})},
              "c = Conv <pads = [1, 1]> (x, w, b) y = Relu (c)"),
      network("(float[1,24,5,3] x) => (float[1,12,5,3] y)", {weight("w", {12, 6, 3, 3}), weight("b", {12})},
              "c = Conv <group = 4, pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)"),
      network("(float[1,64,9,9] x) => (float[1,64,9,9] y)", {weight("w", {64, 32, 3, 3}), weight("b", {64})},
              "c = Conv <group = 2, pads = [1, 1, 1, 1]> (x, w, b) y = Relu (c)"),
      network("(float[1,20,6,5] x) => (float[1,20,3,3] y)", {weight("w", {20, 1, 3, 3}), weight("b", {20})},
              "c = Conv <group = 20, pads = [1, 1, 1, 1], strides = [2, 2]> (x, w, b) y = HardSigmoid (c)"),
      network("(float[1,8,3] x) => (float[1,8,5] y)", {weight("w", {8, 4, 3})},
              "y = ConvTranspose <group = 2> (x, w)"),
      network("(float[1,10,5,5] x) => (float[1,10,3,3] y, float[1,10,2,2] z, float[1,10,1,1] m)", {},
              "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x) "
              "z = AveragePool <kernel_shape = [2, 2], strides = [3, 3], count_include_pad = 1, pads = [0, "
              "0, 1, 1]> (x) "
              "m = GlobalAveragePool (x)"),
      network("(float[2,8,3,3] x) => (float[2,8,3,3] y)", {}, "a = LRN <size = 3> (x) y = Relu (a)"),
      network("(float[1,16,2,2] x) => (float[1,24,2,2] y, float[1,8,2,2] z)",
              {weight("w", {8, 16, 1, 1}), weight("v", {16, 16, 1, 1})},
              "a = Conv (x, w) b = Conv (x, v) y = Concat <axis = 1> (a, b) p, q, z = Split <axis = 1, "
              "num_outputs = 3> (y)"),
  };
}

/// Between QuantizeLinear and DequantizeLinear. Those with large products, so that the cost model selects
/// them.
std::vector<std::string> integers() {
  const std::string q = "float s = {0.25}, uint8 z = {100}, float t = {64}, float u = {0.125}";
  std::string big;
  for (int i = 0; i < 32 * 32 * 9; ++i) big += fmt::format("{}{}", i == 0 ? "" : ",", i * 7 % 255 - 127);
  const std::string conv = "int8[32,32,3,3] w = {" + big + "}", product = "int8[288,32] w = {" + big + "}";
  return {
      network("(float[1,32,8,8] x) => (uint8[1,32,8,8] y)", {conv, q},
              "a = QuantizeLinear (x, s, z) b = DequantizeLinear (a, s, z) v = DequantizeLinear (w, u) "
              "c = Conv <pads = [1, 1, 1, 1]> (b, v) r = Relu (c) y = QuantizeLinear (r, t, z)"),
      network("(uint8[2,5,7] x) => (uint8[2,5,7] y)", {"float s = {0.1}", "uint8 z = {100}"},
              "d = DequantizeLinear (x, s, z) a = Sigmoid (d) m = Mul (a, d) y = QuantizeLinear (m, s, z)"),
      network("(float[16,288] x, float[16,32] o) => (uint8[16,32] y)", {product, q},
              "a = QuantizeLinear (x, s, z) b = DequantizeLinear (a, s, z) v = DequantizeLinear (w, u) "
              "c = MatMul (b, v) d = Add (c, o) y = QuantizeLinear (d, t, z)"),
  };
}

/// With quantization at run time.
std::vector<std::string> dynamic_integers() {
  const auto levels = [](const std::string& name, int k) {
    std::string list;
    for (int i = 0; i < k * 12; ++i) list += fmt::format("{}{}", i == 0 ? "" : ",", i * 37 % 255 - 128);
    return fmt::format("int8[1,{},12] {} = {{{}}}", k, name, list);
  };
  const std::string lstm = fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 18, \"com.microsoft\" : 1]> g (float[3,1,4] x) => "
      "(float[3,1,1,3] "
      "y, float[1,1,3] c) <{}, {}, float[1] s = {{0.01}}, int8[1] z = {{2}}> {{ y, , c = "
      "com.microsoft.DynamicQuantizeLSTM <hidden_size = 3> (x, w, r, , , , , , s, z, s, z) }}",
      levels("w", 4), levels("r", 3));
  return {
      lstm,
      network(
          "(float[3,4] x) => (float[3,5] y, uint8[3,4] q)",
          {"int8[4,5] w = {1, -2, 3, -4, 5, -6, 7, -8, 9, 10, 11, -12, 13, 127, -128, 16, 17, 18, 19, 20}",
           "int8[5] v = {0, 1, -2, 3, 4}", "float f = {0.5}"},
          "q, s, z = DynamicQuantizeLinear (x) i = MatMulInteger (q, w, z, v) c = Cast <to = 1> (i) "
          "t = Mul (s, f) y = Mul (c, t)"),
      network("(float[1,4,3,3] x) => (float[1,2,3,3] y, int32[1,4,3,3] s)",
              {"int8[2,2,1,1] w = {1, -2, 3, -4}", "uint8[2] u = {7, 200}", "int32[1,2,1,1] b = {5, -6}",
               "uint8[2,2,1,1] v = {1, 255, 3, 4}", "int8[4,1,1,1] d = {-128, 127, 0, 1}", "float f = {0.5}"},
              "q, t, z = DynamicQuantizeLinear (x) i = ConvInteger <group = 2> (q, w, z) j = Add (i, b) "
              "c = Cast <to = 1> (j) k = ConvInteger <group = 2> (q, v, z, u) e = Cast <to = 1> (k) "
              "g = Mul (e, f) h = Add (c, g) y = Mul (h, t) s = ConvInteger <group = 4> (q, d, z)")};
}

/// Weights of a few bits: few rows and many, with and without zero points and bias, blocks that reach beyond
/// k.
std::vector<std::string> few_bits() {
  const auto list = [](int count) {
    std::string numbers;
    for (int i = 0; i < count; ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ",", i * 37 % 256);
    return numbers;
  };
  const auto product = [&](int rows, int bits, bool has_zeros, int level = 0) {
    return fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 18, \"com.microsoft\" : 1]> g (float[{0},40] x) => "
        "(float[{0},3] "
        "y) <uint8[3,2,{1}] w = {{{2}}}, float[6] s = {{0.5, 1, 2, 0.25, 3, 1.5}}, uint8[{3}] z = {{{4}}}, "
        "float[3] b = {{1, 2, 3}}> {{ y = com.microsoft.MatMulNBits <K = 40, N = 3, bits = {5}, block_size = "
        "32, accuracy_level = {7}> "
        "(x, w, s, {6}, , b) }}",
        rows, 4 * bits, list(24 * bits), bits == 8 ? 6 : 3, list(bits == 8 ? 6 : 3), bits,
        has_zeros ? "z" : "", level);
  };
  // Convolutions, which keep 16,384 weights or more so.
  const std::string pixels = fmt::format(
      "<ir_version: 13, opset_import: [\"\" : 25]> g (float[1,128,2,3] x) => (float[1,512,2,3] y) "
      "<uint2[512,128,1,1] q = {{{}}}, float s = {{0.25}}> {{ w = DequantizeLinear (q, s) c = Conv "
      "(x, w) y = Relu (c) }}",
      list(512 * 128 / 4));
  const std::string windows = fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[1,64,4,3] x) => (float[1,29,4,3] y) "
      "<int4[29,64,3,3] q = {{{0}}}, int4[2,64,3,3] z = {{{1}}}, {2}> {{ w = DequantizeLinear <axis = 0, "
      "block_size = 16> (q, s, z) y = Conv <pads = [1, 1, 1, 1]> (x, w) }}",
      list(29 * 64 * 9 / 2), list(2 * 64 * 9 / 2), weight("s", {2, 64, 3, 3}));
  return {pixels,
          windows,
          product(1, 4, true),
          product(7, 4, false),
          product(3, 8, true),
          product(2, 2, false),
          product(2, 4, true, 4),
          network("(int8[3,20] x, int8[3,3] z) => (float[3,20] y)", {weight("s", {3, 3})},
                  "y = DequantizeLinear <axis = 1, block_size = 8> (x, s, z)", 21)};
}

std::vector<std::string> products() {
  return {
      network("(float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y)", {weight("c", {5})},
              "m = MatMul (a, b) s = Add (m, c) y = Relu (s)"),
      network("(float[3,2,4] a, float[2,5,4] b) => (float[3,2,5] y)", {},
              "p = Transpose <perm = [1, 0, 2]> (a) q = Transpose <perm = [0, 2, 1]> (b) m = MatMul (p, q) "
              "y = Transpose <perm = [1, 0, 2]> (m)"),
      network("(float[5,6] a, float[5,7] r) => (float[5,7] y)", {weight("w", {6, 7}), weight("c", {7})},
              "m = Gemm <alpha = 0.5> (a, w, c) s = Add (m, r) y = Tanh (s)"),
      network("(float[1,16] a) => (float[1,9] y, float[1,8] z)",
              {weight("w", {16, 9}), weight("v", {8, 16}), weight("b", {9})},
              "m = MatMul (a, w) s = Add (m, b) y = Relu (s) z = Gemm <transB = 1> (a, v)"),
      network("(float[3,2,4] x, float[2,2,3] h) => (float[3,2,2,3] y, float[2,2,3] yh, float[2,2,3] yc)",
              {weight("w", {2, 12, 4}), weight("r", {2, 12, 3}), weight("b", {2, 24})},
              "y, yh, yc = LSTM <hidden_size = 3, direction = \"bidirectional\"> (x, w, r, b, , h)"),
      network("(float[2,1,4] x) => (float[1,1,3] yh)", {weight("w", {1, 12, 4}), weight("r", {1, 12, 3})},
              ", yh = LSTM <hidden_size = 3, direction = \"reverse\"> (x, w, r)"),
      network("(float[3,2,4] x, int32[2] n) => (float[3,2,2,3] y, float[2,2,3] yh, float[1,2,3] z)",
              {weight("w", {2, 9, 4}), weight("r", {2, 9, 3}), weight("b", {2, 18}), weight("v", {1, 3, 4}),
               weight("s", {1, 3, 3})},
              "y, yh = GRU <hidden_size = 3, direction = \"bidirectional\", linear_before_reset = 1> (x, w, "
              "r, b, n) "
              ", z = RNN <hidden_size = 3> (x, v, s)"),
      network("(float[2,3,4] x, float[1,9,4] w, float[1,9,3] r) => (float[2,3,1,3] y)", {},
              "y = GRU <hidden_size = 3, layout = 1> (x, w, r)"),
      network(
          "(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v, float[1,1,3,5] m) => (float[1,2,3,4] y)",
          {"float s = {0.5}"},
          "t = Transpose <perm = [0, 1, 3, 2]> (k) a = MatMul (q, t) b = Mul (a, s) c = Add (b, m) d = "
          "Softmax <axis = -1> (c) "
          "y = MatMul (d, v)"),
      network(
          "(float[2,3,2,4] q, float[2,5,1,4] k, float[2,1,5,3] v, bool[3,1] m) => (float[2,3,2,3] y)",
          {"float f = {-9}"},
          "g = Constant <value_ints = [2, 1, 6, 4]> () h = Constant <value_ints = [2, 2, 3, 5]> () "
          "i = Constant <value_ints = [2, 1, 6, 5]> () l = Constant <value_ints = [2, 2, 3, 3]> () "
          "t = Transpose <perm = [0, 2, 1, 3]> (q) r = Transpose <perm = [0, 2, 3, 1]> (k) "
          "p = Reshape (t, g) a = MatMul (p, r) e = Reshape (a, h) w = Where (m, f, e) d = Softmax <axis = "
          "-1> (w) "
          "o = Reshape (d, i) z = MatMul (o, v) u = Reshape (z, l) y = Transpose <perm = [0, 2, 1, 3]> (u)"),
  };
}

std::vector<std::string> rows_and_moves() {
  return {
      network("(float[2,3,4] x, float[3,1] b) => (float[2,3,4] y, bool[2,3,4] g)", {},
              "s = Add (x, b) m = Mul (s, s) e = Exp (m) y = Div (x, e) g = Greater (x, b)"),
      network("(float[1,10,2,2] x, float[1,10,2,2] z) => (float[1,10,2,2] y)", {weight("w", {10, 10, 1, 1})},
              "c = Conv (x, w) s = Sub (z, c) e = Exp (s) y = Max (e, c)"),
      network("(int64[4] i, float[4] x, bool[4] c) => (float[4] y)", {},
              "f = Cast <to = 1> (i) s = Where (c, f, x) y = Neg (s)"),
      network("(float[2,3,4] x) => (float[2,3,4] y, float[2,3,4] z, float[2,3,4] w)", {},
              "y = Softmax <axis = 1> (x) z = LogSoftmax (x) w = Softmax <axis = 2> (y)"),
      network("(float[2,3,4] x) => (float[2,3,4] y, float[2,3,4] z)",
              {weight("s", {4}), weight("b", {4}), weight("t", {3}), weight("u", {3})},
              "y = LayerNormalization (x, s, b) z = InstanceNormalization (x, t, u)"),
      network("(float[2,3,4] x) => (float[2,3,4] y)", {weight("s", {4})}, "y = RMSNormalization (x, s)", 23),
      network("(float[2,3,4] x) => (float[2,1,1] y, float[3,4] z, float[2,3,1] m)",
              {"int64[2] a = {1, 2}", "int64[1] f = {0}", "int64[1] l = {2}"},
              "y = ReduceMean (x, a) z = ReduceMax <keepdims = 0> (x, f) m = ReduceL2 (x, l)"),
      network("(float[4,16] a, float[4,16] b, int32[2,3] i) => (float[8,16] y, int32[2,6] z, float[4,33] m)",
              {weight("c", {4, 1})},
              "p = Relu (a) q = Neg (b) y = Concat <axis = 0> (p, q) z = Concat <axis = 1> (i, i) m = Concat "
              "<axis = 1> (p, c, q)"),
      network("(float[3,4,5] x) => (float[5,3,4] t, float[3,2,5] s, float[2,3,4,5] e, float[3,4,2] a, "
              "float[3,4,3] b, float[3,4,3] r)",
              {"int64[1] one = {1}", "int64[1] three = {3}", "int64[4] shape = {2, 3, 4, 5}",
               "int64[2] parts = {2, 3}", "int64[1] last = {2}", "int64[1] back = {-1}",
               "int64[1] lowest = {-9999}", "int64[1] two = {2}", "int64[1] minus = {-2}"},
              "t = Transpose <perm = [2, 0, 1]> (x) s = Slice (x, one, three, one) e = Expand (x, shape) "
              "a, b = Split <axis = 2> (x, parts) r = Slice (x, back, lowest, last, minus)"),
      network("(float[3,4,2] x, int64[2,2] i, int32[3] j) => (float[3,2,2,2] y, float[3,4,2] z)", {},
              "y = Gather <axis = 1> (x, i) z = Gather <axis = 0> (x, j)"),
      network(
          "(float[3,4] x, int64[3,2] i, int64[2,2] t, float[2] u) => (float[3,2] y, float[2] g, float[3,4] "
          "e, float[3,4] n)",
          {},
          "y = GatherElements <axis = 1> (x, i) g = GatherND (x, t) e = ScatterElements <axis = 1> (x, i, y) "
          "n = ScatterND (x, t, u)"),
      network("(float[2,3,2] x) => (float[3,3,5] y)", {"int64[6] p = {0, 0, 1, 1, 0, 2}", "float v = {7}"},
              "y = Pad (x, p, v)"),
      network("(float[1,8,3,3] x) => (float[1,8,6,6] y, float[1,8,5,4] z)",
              {"float[4] s = {1, 1, 2, 2}", "int64[4] n = {1, 8, 5, 4}", weight("w", {8, 8, 1, 1})},
              "c = Conv (x, w) y = Resize <mode = \"nearest\"> (c, , s) z = Resize <mode = \"linear\"> (c, , "
              ", n)"),
  };
}

/// Rare operators with their own kernels.
std::vector<std::string> rare() {
  return {
      network("(float[2,5] x, int8[3,4] b) => (float[2,2] v, int64[2,2] i, float[2,5] c, int64[2] a, "
              "int64[1,4] m)",
              {"int64[1] k = {2}", "int64 one = {1}"},
              "v, i = TopK (x, k) c = CumSum <reverse = 1> (x, one) a = ArgMax <axis = 1, keepdims = 0> (x) "
              "m = ArgMin <axis = 0, select_last_index = 1> (b)"),
      network("(float[2,4,5] x, int64[4] n) => (float[2,4,5] y, float[2,4,5] z)", {"int64 k = {1}"},
              "y = Trilu (x, k) t = Trilu <upper = 0> (x) z = ReverseSequence <time_axis = 0, batch_axis = "
              "1> (t, n)"),
      network("(float[1,2,5,5] x, uint8[1,2,5] u) => (float[1,2,3,3] y, int64[1,2,3,3] i, uint8[1,2,4] v)",
              {},
              "y, i = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x) "
              "v = MaxPool <kernel_shape = [2]> (u)"),
      network("(float[1,18,16] x) => (float[1,2,4,4] y)", {"int64[2] e = {4, 4}", "int64[2] b = {3, 3}"},
              "y = Col2Im <pads = [1, 1, 1, 1]> (x, e, b)"),
      network("(float[1,2,4,4] x, float[1,3,3,2] g, float[2,4] r, int64[2] i) => (float[1,2,3,3] y, "
              "float[2,2,2,2] z)",
              {},
              "y = GridSample <padding_mode = \"border\"> (x, g) "
              "z = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, i)"),
      network("(float[2,6,1] x, float[1,20,1] v, float[6] w) => (float[2,4,2] y, float[2,6,2] z, "
              "float[1,8,4,2] s)",
              {"int64 n = {6}", "int64 t = {2}"},
              "y = DFT <onesided = 1> (x) c = Concat <axis = 2> (x, x) z = DFT <inverse = 1> (c) s = STFT "
              "(v, t, w, n)",
              20),
      network("(float[1,2,4,4] x, float[1,18,4,4] o, float[1,9,4,4] m) => (float[1,3,4,4] y)",
              {weight("w", {3, 2, 3, 3}), weight("b", {3})},
              "y = DeformConv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w, o, b, m)", 19),
  };
}

std::vector<std::string> bodies_and_rest() {
  return {
      network("(bool c, float[2,3] x) => (float[2,3] y, float[3,2,3] z)",
              {weight("w", {3, 3}), "int64 n = {3}", "bool yes = {1}"},
              "y = If (c) <then_branch = t () => (float[2,3] a) { m = MatMul (x, w) a = Relu (m) }, "
              "else_branch = e () => (float[2,3] b) { b = Neg (x) }> "
              "last, z = Loop (n, yes, x) <body = l (int64 i, bool go, float[2,3] v) => (bool go_on, "
              "float[2,3] next, float[2,3] scan) "
              "{ go_on = Identity (go) next = Add (v, x) scan = Mul (next, next) }>"),
      network("(float[2] s, float[3,2] x) => (float[2] y, float[3,2] z)", {},
              "y, z = Scan <num_scan_inputs = 1, body = b (float[2] t, float[2] u) => (float[2] n, float[2] "
              "o) { n = Add (t, u) o = Neg (n) }> (s, x)"),
      network("(float[2,3] x) => (float[n,2] y)", {},
              "i = NonZero (x) t = Transpose <perm = [1, 0]> (i) f = Cast <to = 1> (t) y = Relu (f)"),
      network("(float[2,5] x) => (float[2,2] v, int64[2,2] i, float[2,5] c)", {"int64[1] k = {2}"},
              "v, i = TopK (x, k) c = CumSum (x, one) one = Constant <value_int = 1> ()"),
      network("(float[2,2] x) => (float[2,2] x, float[2,2] y, float[2,2] y)", {}, "y = Relu (x)"),
      network("(float[2,3] x) => (float[3,2] y, float[6] z, float[2,3] w)",
              {"int64[2] s = {3, 2}", "int64[1] f = {6}"},
              "y = Reshape (x, s) z = Reshape (y, f) w = CumSum (x, one) one = Constant <value_int = 1> ()"),
      network("(string[2] x) => (string[2] y, seq(string[2]) q)", {"string[1] w = {\"a\"}"},
              "y = StringConcat (x, w) q = SequenceConstruct (y, x)", 20),
      network("(float[n,4] x) => (float[n,4] y)", {weight("w", {4, 4})}, "m = MatMul (x, w) y = Relu (m)"),
      network("(float[1,16,3,2] x) => (float[1,2,3,16] y)", {weight("w", {16, 1, 3, 3})},
              "c = Conv <group = 16, pads = [1, 1, 1, 1]> (x, w) y = Transpose <perm = [0, 3, 2, 1]> (c)"),
      network("(float16[2,3] x, uint8[5] u) => (float16[3,2] y, uint8[5] v)", {},
              "y = Transpose (x) v = Identity (u)"),
      "<ir_version: 8, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]> g (float[2,2] x) => (string[2] y, "
      "float[2,2] z, "
      "float[2,1] r) { y, z = ai.onnx.ml.TreeEnsembleClassifier <nodes_treeids = [0, 0, 0], nodes_nodeids = "
      "[0, 1, "
      "2], nodes_featureids = [1, 0, 0], nodes_values = [0.5, 0.0, 0.0], nodes_modes = [\"BRANCH_LEQ\", "
      "\"LEAF\", "
      "\"LEAF\"], nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], class_treeids = [0, 0], "
      "class_nodeids = [1, 2], class_ids = [0, 1], class_weights = [1.0, 2.0], classlabels_strings = [\"a\", "
      "\"b\"]> (x) r = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0], intercepts = [0.5]> (x) }",
      network("(float[2,4] x) => (float[2,4] y)", {weight("w", {4, 4})},
              "a = MatMul (x, w) b = Sigmoid (a) c = Mul (a, b) d = MatMul (c, w) y = Add (d, x)"),
  };
}

}  // namespace

std::vector<std::string> plan_networks() {
  std::vector<std::string> all;
  for (auto&& some : {windows(), integers(), dynamic_integers(), few_bits(), products(), rows_and_moves(),
                      rare(), bodies_and_rest()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace assay::fuzz
