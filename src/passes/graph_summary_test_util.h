// One-line summaries of graphs, for comparison in tests.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "assay/graph.h"
#include "graph/read.h"
#include "passes/region.h"
#include "tensor/convert.h"

namespace assay {

std::string summary_of(const Graph& g);

namespace graph_summary {

inline std::string text_of(const UnalignedTensor& t) {
  if (t.numel() > 8) return fmt::format("{}{}", dtype_name(t.dtype()), t.shape().str());
  std::vector<std::string> numbers;
  const Tensor wide = to_float64(t);
  for (const double x : wide.span<double>()) numbers.push_back(fmt::format("{:.6g}", x));
  return t.rank() == 0 ? numbers.at(0) : fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

inline std::string text_of(const Attribute& a) {
  if (const auto* f = a.get_if<float>()) return fmt::format("{:.6g}", *f);
  if (const auto* i = a.get_if<int64_t>()) return std::to_string(*i);
  if (const auto* s = a.get_if<std::string>()) return *s;
  if (const auto* list = a.get_if<std::vector<int64_t>>()) return fmt::format("[{}]", fmt::join(*list, ", "));
  if (const auto* t = a.get_if<UnalignedTensor>()) return text_of(*t);
  if (const auto* g = a.get_if<std::shared_ptr<Graph>>()) return "{" + summary_of(**g) + "}";
  return "...";
}

}  // namespace graph_summary

/// The nodes of a graph, as in PassCase::after (passes/pass_cases.h).
inline std::string summary_of(const Graph& g) {
  std::unordered_map<const Value*, std::string> names;
  for (const Value* v : g.inputs) names[v] = v->name();
  for (const Value* v : g.outputs) names[v] = v->name();
  for (size_t i = 0; i < g.nodes().size(); ++i) {
    const Node& n = *g.nodes()[i];
    for (size_t k = 0; k < n.outputs().size(); ++k)
      names.emplace(n.output(k), "%" + std::to_string(i) + (k == 0 ? "" : "." + std::to_string(k)));
  }
  std::vector<std::string> lines;
  for (const auto& n : g.nodes()) {
    std::vector<std::string> inputs, attributes, outputs;
    for (const Value* v : n->inputs())
      inputs.push_back(v == nullptr                ? "-"
                       : constant_of(v) != nullptr ? graph_summary::text_of(*constant_of(v))
                       : names.contains(v)         ? names.at(v)
                                                   : v->name());
    for (const Attribute& a : n->attributes)
      if (!is_region(*n) || a.name != "body") attributes.push_back(a.name + "=" + graph_summary::text_of(a));
    for (const Value* v : n->outputs())
      if (v != nullptr && std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end())
        outputs.push_back(v->name());
    lines.push_back(fmt::format("{}{}{}{}{}({})", fmt::join(outputs, ", "), outputs.empty() ? "" : " = ",
                                n->domain.empty() ? "" : n->domain + ".", n->op_type,
                                attributes.empty() ? "" : fmt::format("<{}>", fmt::join(attributes, ", ")),
                                fmt::join(inputs, ", ")));
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace assay
