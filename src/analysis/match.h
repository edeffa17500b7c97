// Questions that patterns ask about nodes and values.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "assay/graph.h"
#include "graph/read.h"

namespace assay {

/// The producer in the same graph when it is that operator; null otherwise.
const Node* producer_of(const Value* v, std::string_view op_type);

/// True for a constant that stays what it is in every run. In models from IR version 4 on, an initializer
/// that is also listed among the inputs may be replaced; before, all were listed.
bool is_fixed(const Value* v, int64_t ir_version);
/// The number in a constant of one element of any real type. It may have any rank: an operand of arithmetic
/// is asked about with scalar_beside.
std::optional<double> scalar_of(const Value* v);
/// The number of an operand that leaves the shape of the other one, `beside`, as it is: [1, 1] beside a
/// vector makes a matrix of it.
std::optional<double> scalar_beside(const Value* v, const Value* beside);
/// Whether it is such an operand and `number`: exactly where float32 has the number, else as closely as
/// float32 or eight digits say it.
bool is_scalar_beside(const Value* v, double number, const Value* beside);
/// The elements of a constant integer tensor of at most one dimension.
std::optional<std::vector<int64_t>> integers_of(const Value* v);

/// A list that is an attribute in old opsets and input `input` in new ones; nothing when it is not constant.
/// An absent list is empty.
std::optional<std::vector<int64_t>> ints_parameter(const Node& n, std::string_view attribute, size_t input);

/// The nodes of a pattern, each once, in an order in which each comes after what it depends on; else as they
/// are given. A match must not look for them among all nodes of the graph, which takes as long as there are
/// nodes.
std::vector<const Node*> in_order(const std::vector<const Node*>& nodes);

/// The input of a two-input node that is not `v`; null when the node is not of that form.
Value* other_input(const Node& n, const Value* v);

/// The data of a constant, be it an initializer or a Constant node's; else null.
const UnalignedTensor* data_of(const Value* v);

}  // namespace assay
