// Queries of patterns about nodes and values.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "graph/read.h"

namespace assay {

/// The producer in the same graph when it is that operator; null otherwise.
const Node* producer_of(const Value* v, std::string_view op_type);

/// True for a constant that cannot be replaced at run time. In models from IR version 4 on, an initializer
/// that is also listed among the inputs may be replaced; before, all were listed.
bool is_fixed(const Value* v, int64_t ir_version);
/// The number in a constant of one element of any real type. It may have any rank; for operands of arithmetic
/// use scalar_beside.
std::optional<double> scalar_of(const Value* v);
/// The number of an operand that does not change the shape of the other one, `beside`: [1, 1] would make a
/// matrix of a vector.
std::optional<double> scalar_beside(const Value* v, const Value* beside);
/// True when it is such an operand and equals `number`: exactly if float32 represents it, else within
/// float32's or eight digits' precision.
bool is_scalar_beside(const Value* v, double number, const Value* beside);
/// The elements of a constant integer tensor of at most one dimension.
std::optional<std::vector<int64_t>> integers_of(const Value* v);

/// A list that is an attribute in old opsets and input `input` in new ones; nothing when it is not constant.
/// An absent list is empty.
std::optional<std::vector<int64_t>> ints_parameter(const Node& n, std::string_view attribute, size_t input);

/// The nodes of a pattern, each once, in an order in which each
/// comes after what it depends on; else in the given order. A match
/// must not search all nodes of the graph, which takes linear time.
std::vector<const Node*> in_order(const std::vector<const Node*>& nodes);

/// The input of a two-input node that is not `v`; null when the node is not of that form.
Value* other_input(const Node& n, const Value* v);

/// The data of a constant, be it an initializer or a Constant node's; else null.
const UnalignedTensor* data_of(const Value* v);

}  // namespace assay
