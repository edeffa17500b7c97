// Queries of nodes and values: attributes, constants, ranks, element types.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "assay/graph.h"

namespace assay {

/// True for an operator of the default domain.
bool is_op(const Node& n, std::string_view op_type);
/// True when it has a graph attribute, as If, Loop and Scan do.
bool has_subgraph(const Node& n);
/// These graphs, in the order of the attributes; not those of attributes that hold lists of graphs.
std::vector<const Graph*> subgraphs_of(const Node& n);

/// The data of a constant; null for variables and for constants without data.
const UnalignedTensor* constant_of(const Value* v);

/// The extents when all are known.
std::optional<Shape> shape_of(const Value* v);
/// -1 when unknown.
int rank_of(const Value* v);
DType dtype_of(const Value* v);

/// The body of that name; null when the node has none.
const Graph* graph_attribute(const Node& n, std::string_view name);

/// The attribute's value, or `fallback` when the node has none of that name and kind.
int64_t int_attribute(const Node& n, std::string_view name, int64_t fallback);
double float_attribute(const Node& n, std::string_view name, double fallback);
std::string_view string_attribute(const Node& n, std::string_view name, std::string_view fallback);
/// Empty when there is none.
std::vector<int64_t> ints_attribute(const Node& n, std::string_view name);

}  // namespace assay
