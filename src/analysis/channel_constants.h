// Constants with one number per channel, and weights scaled by them.
#pragma once

#include <optional>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// The numbers, in float64, of a constant that broadcasts over axis 1 of a value of `rank` dimensions with
/// `channels` channels without enlarging it; nothing when the value is not such a constant.
std::optional<std::vector<double>> channel_constant(const Value* v, int rank, int64_t channels);

/// One factor and one shift per channel, in float64.
struct ChannelAffine {
  std::vector<double> factors, shifts;
};

/// The scale and shift of a BatchNormalization per channel; nothing for other nodes, for parameters that are
/// not constant or differ in number, in training mode, or when its statistics are used.
std::optional<ChannelAffine> normalization_of(const Node& n);

/// A 1-D tensor of a floating type.
Tensor float_vector(const std::vector<double>& values, DType dtype);

/// The elements of a constant in float64.
std::vector<double> to_doubles(const UnalignedTensor& t);

/// True when all elements are finite.
bool all_finite(const UnalignedTensor& t);

/// True when the numbers, computed from constants of a floating type, are finite after rounding to it.
bool are_in_range(const std::vector<double>& numbers, DType dtype);
/// True when it is 0, or in the range of normal numbers.
bool is_normal_in(double x, DType dtype);

/// True when adding it to the largest number of the type has no effect.
bool is_lost_in_largest(double x, DType dtype);

/// True when a sum of two constants may replace two additions: not when they nearly cancel and the larger one
/// is large enough to round the other operand, as in the idiom (x + 2^23) - 2^23.
bool is_no_rounding_trick(double a, double b, DType dtype);

/// The common view of Conv, ConvTranspose and Gemm for folding a channel-wise affine map: weights with an
/// axis of output channels, and an optional constant bias.
struct LinearNode {
  const Node* node;
  const UnalignedTensor* weight;
  size_t channel_axis;  ///< of the weight
  int64_t channels;
  const UnalignedTensor* bias;  ///< null: none
  int64_t groups = 1;  ///< of a transposed convolution, whose weights have the output channels of one group
};

/// The weights with each output channel times its factor, computed in float64 and rounded to their type;
/// nothing if a product overflows the type, or the weights are to stay as they are stored.
std::optional<Tensor> scaled_weight(const LinearNode& linear, const std::vector<double>& factors);

/// The parts when `n` is such a node, its weights (and bias) are constants of one floating type, and folding
/// is exact: no Gemm with alpha or beta. Nothing where the operand comes from integers (DequantizeLinear):
/// with weights that are no multiples of a scale a product of integers would become one of floating-point
/// numbers.
std::optional<LinearNode> linear_node(const Node& n);

}  // namespace assay
