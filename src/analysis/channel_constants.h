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

/// What a BatchNormalization does to each channel; nothing when the node is another, when its numbers are no
/// constants or not as many as each other, when it trains, or when somebody wants its statistics.
std::optional<ChannelAffine> normalization_of(const Node& n);

/// A 1-D tensor of a floating type.
Tensor float_vector(const std::vector<double>& values, DType dtype);

/// The elements of a constant in float64.
std::vector<double> to_doubles(const UnalignedTensor& t);

/// Whether no element is infinite or NaN.
bool all_finite(const UnalignedTensor& t);

/// Whether the numbers, computed from constants of a floating type, are finite when they are rounded to it.
bool are_in_range(const std::vector<double>& numbers, DType dtype);
/// Whether it is in the range and has lost no digits below the smallest normal number; 0 has not.
bool is_normal_in(double x, DType dtype);

/// Whether adding it to the largest number of the type changes nothing.
bool is_lost_in_largest(double x, DType dtype);

/// Whether a sum of two constants may stand for adding one after the other: not where they nearly cancel and
/// the larger one is of the size that rounds what it is added to, as (x + 2^23) - 2^23 does on purpose.
bool is_no_rounding_trick(double a, double b, DType dtype);

/// What Conv, ConvTranspose and Gemm have in common when a channel-wise affine map follows: weights with an
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
/// nothing where a product leaves the type's range.
std::optional<Tensor> scaled_weight(const LinearNode& linear, const std::vector<double>& factors);

/// The parts when `n` is such a node, its weights (and bias) are constants of one floating type, and folding
/// keeps it what it is: no Gemm with alpha or beta.
std::optional<LinearNode> linear_node(const Node& n);

}  // namespace assay
