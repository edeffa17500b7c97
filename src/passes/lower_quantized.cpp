// QLinearConv, QLinearMatMul and ONNX Runtime's QLinear operators and QGemm with constant scales become the
// operator itself between DequantizeLinear and QuantizeLinear: the form in which the engine's integer kernels
// know it.
#include "analysis/match.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_quantized {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

Type real_type(const Value* v) {
  Type type = v->type;
  type.dtype = DType::kFloat32;
  return type;
}

bool is_byte(const Value* v) { return dtype_of(v) == DType::kUInt8 || dtype_of(v) == DType::kInt8; }

/// A tensor with its scale and zero point: three inputs in a row.
struct Operand {
  Value *stored, *scale, *zero;
};

Operand operand(const Node& n, size_t first) {
  return {n.input(first), n.input(first + 1), n.input(first + 2)};
}

/// One number for the whole tensor, and a zero point of the tensor's type or none.
bool has_one_scale(const Operand& x) {
  const std::optional<double> scale = scalar_of(x.scale);
  return is_byte(x.stored) && scale && *scale > 0 && dtype_of(x.scale) == DType::kFloat32 &&
         (x.zero == nullptr || (scalar_of(x.zero) && dtype_of(x.zero) == dtype_of(x.stored)));
}

/// Those of a node but channels_last, which QLinear operators alone have.
AttributeList attributes_of(const Node& n) {
  AttributeList list;
  for (const Attribute& a : n.attributes)
    if (a.name != "channels_last") list.emplace_back(a.name, a.data);
  return list;
}

class Lowering {
 public:
  explicit Lowering(const Node& n) : n_(n), patch_(n) { patch_.remove(n); }

  Patch::Ref dequantized(const Operand& x, AttributeList attributes = {}) {
    std::vector<Patch::Ref> inputs = {x.stored, x.scale};
    if (x.zero != nullptr) inputs.emplace_back(x.zero);
    return patch_.add("DequantizeLinear", inputs, std::move(attributes), nullptr, real_type(x.stored));
  }
  Patch::Ref computed(std::string op, std::vector<Patch::Ref> inputs, AttributeList attributes) {
    return patch_.add(std::move(op), std::move(inputs), std::move(attributes), nullptr,
                      real_type(n_.output(0)));
  }
  Patch::Ref constant(const char* what, Tensor t) {
    return patch_.constant(n_.output(0)->name() + what, std::move(t));
  }
  /// The result itself, which is float32.
  Patch real(std::string op, std::vector<Patch::Ref> inputs, AttributeList attributes) {
    patch_.add(std::move(op), std::move(inputs), std::move(attributes), n_.output(0));
    return std::move(patch_);
  }
  Patch quantized(Patch::Ref y, size_t scale) {
    std::vector<Patch::Ref> inputs = {y, n_.input(scale)};
    if (n_.input(scale + 1) != nullptr) inputs.emplace_back(n_.input(scale + 1));
    patch_.add("QuantizeLinear", inputs, {}, n_.output(0));
    return std::move(patch_);
  }

 private:
  const Node& n_;
  Patch patch_;
};

/// Whether the result is quantized by one constant scale.
bool gives_bytes(const Node& n, size_t scale) {
  return has_one_scale({n.output(0), n.input(scale), n.input(scale + 1)});
}

/// Weights with one scale, or with one for each index along `axis`.
bool are_weights(const Operand& w, int axis, int64_t opset) {
  const UnalignedTensor *stored = data_of(w.stored), *scale = data_of(w.scale), *zero = data_of(w.zero);
  if (stored == nullptr || scale == nullptr || !is_byte(w.stored) || scale->dtype() != DType::kFloat32)
    return false;
  if (w.zero != nullptr &&
      (zero == nullptr || zero->dtype() != stored->dtype() || zero->shape() != scale->shape()))
    return false;
  if (scale->numel() == 1) return has_one_scale(w);
  return opset >= 13 && axis < stored->rank() &&
         scale->shape() == Shape{stored->shape()[static_cast<size_t>(axis)]};
}

/// The sums are in units of the product of both scales; so is the bias.
Tensor bias_scale(const Operand& x, const Operand& w) {
  const Tensor weights = data_of(w.scale)->aligned();
  Tensor scale = Tensor::allocate(DType::kFloat32, weights.shape());
  const auto factor = static_cast<float>(*scalar_of(x.scale));
  for (int64_t i = 0; i < weights.numel(); ++i)
    scale.mutable_data<float>()[i] = factor * weights.data<float>()[i];
  return scale;
}

/// The bias as float32 numbers, since DequantizeLinear of int32 came later than QLinearConv.
Tensor real_bias(const UnalignedTensor& bias, const Tensor& scale) {
  const std::vector<int64_t> sums = bias.to_int64();
  Tensor real = Tensor::allocate(DType::kFloat32, bias.shape());
  for (size_t i = 0; i < sums.size(); ++i)
    real.mutable_data<float>()[i] = static_cast<float>(
        static_cast<double>(sums[i]) * static_cast<double>(scale.data<float>()[scale.numel() == 1 ? 0 : i]));
  return real;
}

std::optional<Patch> convolution(const Node& n, int64_t opset) {
  const Operand x = operand(n, 0), w = operand(n, 3);
  if (!has_one_scale(x) || !are_weights(w, 0, opset) || !gives_bytes(n, 6)) return std::nullopt;
  const UnalignedTensor* bias = data_of(n.input(8));
  if (n.input(8) != nullptr && (bias == nullptr || bias->dtype() != DType::kInt32 ||
                                bias->shape() != Shape{data_of(w.stored)->shape()[0]}))
    return std::nullopt;
  Lowering lowering(n);
  AttributeList by_channel;
  if (data_of(w.scale)->numel() > 1) by_channel = {{"axis", int64_t{0}}};
  std::vector<Patch::Ref> inputs = {lowering.dequantized(x), lowering.dequantized(w, by_channel)};
  if (bias != nullptr) inputs.push_back(lowering.constant("/bias", real_bias(*bias, bias_scale(x, w))));
  return lowering.quantized(lowering.computed("Conv", inputs, attributes_of(n)), 6);
}

std::optional<Patch> product(const Node& n, int64_t opset) {
  const Operand a = operand(n, 0), b = operand(n, 3);
  const bool constant = data_of(b.stored) != nullptr && data_of(b.stored)->rank() == 2;
  if (!has_one_scale(a) || !gives_bytes(n, 6) || !(constant ? are_weights(b, 1, opset) : has_one_scale(b)))
    return std::nullopt;
  Lowering lowering(n);
  AttributeList by_column;
  if (constant && data_of(b.scale)->numel() > 1) by_column = {{"axis", int64_t{1}}};
  return lowering.quantized(
      lowering.computed("MatMul", {lowering.dequantized(a), lowering.dequantized(b, by_column)}, {}), 6);
}

/// alpha * (A' * B' + C) in units of the product of both scales; quantized where a scale is given.
std::optional<Patch> gemm(const Node& n, int64_t opset) {
  const Operand a = operand(n, 0), b = operand(n, 3);
  const int axis = int_attribute(n, "transB", 0) != 0 ? 0 : 1;
  const bool quantizes = n.input(7) != nullptr;
  const UnalignedTensor* bias = data_of(n.input(6));
  if (!has_one_scale(a) || !are_weights(b, axis, opset) || data_of(b.stored)->rank() != 2 ||
      (quantizes && !gives_bytes(n, 7)) || float_attribute(n, "alpha", 1) != 1)
    return std::nullopt;
  const int64_t columns = data_of(b.stored)->shape()[static_cast<size_t>(axis)];
  // Gemm takes no less than three inputs before opset 11.
  if (n.input(6) == nullptr && opset < 11) return std::nullopt;
  if (n.input(6) != nullptr &&
      (bias == nullptr || bias->dtype() != DType::kInt32 || bias->shape() != Shape{columns}))
    return std::nullopt;
  Lowering lowering(n);
  AttributeList by_column;
  if (data_of(b.scale)->numel() > 1) by_column = {{"axis", int64_t{axis}}};
  std::vector<Patch::Ref> inputs = {lowering.dequantized(a), lowering.dequantized(b, by_column)};
  if (bias != nullptr) inputs.push_back(lowering.constant("/bias", real_bias(*bias, bias_scale(a, b))));
  if (!quantizes) return lowering.real("Gemm", inputs, attributes_of(n));
  return lowering.quantized(lowering.computed("Gemm", inputs, attributes_of(n)), 7);
}

std::optional<Patch> binary(const Node& n, const char* op) {
  const Operand a = operand(n, 0), b = operand(n, 3);
  if (!has_one_scale(a) || !has_one_scale(b) || !gives_bytes(n, 6)) return std::nullopt;
  Lowering lowering(n);
  return lowering.quantized(lowering.computed(op, {lowering.dequantized(a), lowering.dequantized(b)}, {}), 6);
}

std::optional<Patch> unary(const Node& n, const char* op) {
  const Operand x = operand(n, 0);
  if (!has_one_scale(x) || !gives_bytes(n, 3) || int_attribute(n, "channels_last", 0) != 0)
    return std::nullopt;
  Lowering lowering(n);
  return lowering.quantized(lowering.computed(op, {lowering.dequantized(x)}, attributes_of(n)), 3);
}

/// Along one axis, as Softmax does it since opset 13.
std::optional<Patch> softmax(const Node& n, int64_t opset) {
  const Operand x = operand(n, 0);
  if (!has_one_scale(x) || !gives_bytes(n, 3) || opset < 13 || int_attribute(n, "opset", 1) < 13)
    return std::nullopt;
  Lowering lowering(n);
  return lowering.quantized(
      lowering.computed("Softmax", {lowering.dequantized(x)}, {{"axis", int_attribute(n, "axis", -1)}}), 3);
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  const int64_t opset = context.model.opset();
  const bool is_gemm = n.op_type == "QGemm" && n.domain == kMicrosoft;
  if (!(is_gemm || n.op_type.starts_with("QLinear")) || n.output(0) == nullptr || opset < 10)
    return std::nullopt;
  if (is_gemm) return gemm(n, opset);
  if (n.domain.empty()) {
    if (n.op_type == "QLinearConv") return convolution(n, opset);
    return n.op_type == "QLinearMatMul" ? product(n, opset) : std::nullopt;
  }
  if (n.domain != kMicrosoft) return std::nullopt;
  if (n.op_type == "QLinearAdd") return binary(n, "Add");
  if (n.op_type == "QLinearMul") return binary(n, "Mul");
  if (n.op_type == "QLinearSigmoid") return unary(n, "Sigmoid");
  if (n.op_type == "QLinearLeakyRelu") return unary(n, "LeakyRelu");
  if (n.op_type == "QLinearSoftmax") return softmax(n, opset);
  if (n.op_type == "QLinearGlobalAveragePool") return unary(n, "GlobalAveragePool");
  return n.op_type == "QLinearAveragePool" ? unary(n, "AveragePool") : std::nullopt;
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_quantized",
    .summary = "QLinear operators become operators between DequantizeLinear and QuantizeLinear",
    .conditions =
        "Opset 10 or later. Scales are constants, positive, float32, one for a tensor (of a weight also one "
        "for each channel, from opset 13 on); zero points are constants of the type of the levels; a bias is "
        "a constant int32 vector.",
    .match = match,
};

}  // namespace assay::pass_lower_quantized
