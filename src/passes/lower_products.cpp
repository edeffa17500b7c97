// Products in forms that no kernel has: MatMul of operands that differ in rank, and Einsum of two operands,
// become MatMul of equal ranks between views and transpositions. float32 and known shapes.
#include <algorithm>
#include <string>

#include "analysis/match.h"
#include "passes/formula.h"
#include "passes/pass_list.h"

namespace assay::pass_lower_products {
namespace {

std::optional<Patch> matmul(const Node& n, const PassContext& context, const Shape& a, const Shape& b,
                            const Shape& out) {
  // Rows of a stack times one constant matrix, and equal ranks, are what kernels take.
  if (a.size() == b.size() && a.size() > 1) return std::nullopt;
  if (b.size() == 2 && a.size() > 2 && constant_of(n.input(1)) != nullptr) return std::nullopt;
  if (a.empty() || b.empty()) return std::nullopt;
  Patch patch(n);
  patch.remove(n);
  Formula f(patch, context, n.output(0)->name());
  Shape left = a.size() == 1 ? Shape{1, a[0]} : a, right = b.size() == 1 ? Shape{b[0], 1} : b;
  if (right.size() == 2 && left.size() > 2) left = Shape{left.numel(0, left.size() - 1), left.back()};
  const auto raised = [](const Shape& s, size_t rank) {
    Shape all;
    for (size_t i = s.size(); i < rank; ++i) all.push_back(1);
    for (const int64_t d : s.dims()) all.push_back(d);
    return all;
  };
  const size_t rank = std::max(left.size(), right.size());
  const Term x = f.reshape(Formula::of(n.input(0)), raised(left, rank));
  const Term y = f.reshape(Formula::of(n.input(1)), raised(right, rank));
  f.give(f.reshape(f.matmul(x, y), out), n.output(0));
  return patch;
}

/// The letters of "ij,jk->ik"; nothing for an ellipsis, capitals aside, or anything but two operands.
struct Equation {
  std::string a, b, out;
};
std::optional<Equation> read_equation(std::string text) {
  std::erase(text, ' ');
  const size_t comma = text.find(','), arrow = text.find("->");
  if (text.find('.') != std::string::npos || comma == std::string::npos || arrow == std::string::npos ||
      comma > arrow || text.find(',', comma + 1) != std::string::npos)
    return std::nullopt;
  Equation e{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  for (const std::string* s : {&e.a, &e.b, &e.out}) {
    std::string sorted = *s;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  }
  return e;
}

bool has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

/// An operand with its axes in this order.
Term ordered(Formula& f, const Term& x, const std::string& letters, const std::string& order) {
  std::vector<int64_t> perm;
  for (const char c : order) perm.push_back(static_cast<int64_t>(letters.find(c)));
  return std::is_sorted(perm.begin(), perm.end()) ? x : f.transpose(x, perm);
}

std::optional<Patch> einsum(const Node& n, const PassContext& context, const Shape& a, const Shape& b) {
  const std::optional<Equation> e = read_equation(std::string(string_attribute(n, "equation", "")));
  if (!e || e->a.size() != a.size() || e->b.size() != b.size()) return std::nullopt;
  std::string stack, rows, columns, summed;
  for (size_t i = 0; i < e->a.size(); ++i) {
    const char c = e->a[i];
    const bool is_shared = has(e->b, c);
    if (is_shared && b[e->b.find(c)] != a[i]) return std::nullopt;
    if (!is_shared && !has(e->out, c)) return std::nullopt;
    (!is_shared ? rows : has(e->out, c) ? stack : summed) += c;
  }
  for (const char c : e->b) {
    if (has(e->a, c)) continue;
    if (!has(e->out, c)) return std::nullopt;
    columns += c;
  }
  if (e->out.size() != stack.size() + rows.size() + columns.size()) return std::nullopt;
  const auto extent = [&](const std::string& letters) {
    int64_t product = 1;
    for (const char c : letters) product *= has(e->a, c) ? a[e->a.find(c)] : b[e->b.find(c)];
    return product;
  };
  Patch patch(n);
  patch.remove(n);
  Formula f(patch, context, n.output(0)->name());
  const Term left = f.reshape(ordered(f, Formula::of(n.input(0)), e->a, stack + rows + summed),
                              {extent(stack), extent(rows), extent(summed)});
  const Term right = f.reshape(ordered(f, Formula::of(n.input(1)), e->b, stack + summed + columns),
                               {extent(stack), extent(summed), extent(columns)});
  Shape apart;
  const std::string made = stack + rows + columns;
  for (const char c : made) apart.push_back(extent(std::string(1, c)));
  if (apart.empty()) return std::nullopt;
  f.give(ordered(f, f.reshape(f.matmul(left, right), apart), made, e->out), n.output(0));
  return patch;
}

std::optional<Patch> match(const Node& n, const PassContext& context) {
  if ((!is_op(n, "MatMul") && !is_op(n, "Einsum")) || n.inputs().size() != 2 || n.output(0) == nullptr)
    return std::nullopt;
  if (context.model.opset() < 10) return std::nullopt;
  for (const Value* v : n.inputs())
    if (v == nullptr || dtype_of(v) != DType::kFloat32) return std::nullopt;
  const std::optional<Shape> a = shape_of(n.input(0)), b = shape_of(n.input(1)), out = shape_of(n.output(0));
  if (!a || !b || !out || a->numel() == 0 || b->numel() == 0) return std::nullopt;
  return is_op(n, "MatMul") ? matmul(n, context, *a, *b, *out) : einsum(n, context, *a, *b);
}

}  // namespace

constinit const PassDef def = {
    .name = "lower_products",
    .summary = "MatMul of unequal ranks and Einsum of two operands become MatMul of equal ranks",
    .conditions =
        "Opset 10 or later, float32, extents that are numbers, no empty operand. Einsum of two operands "
        "without an ellipsis and without repeated letters, in which each letter that is summed is in both.",
    .match = match,
};

}  // namespace assay::pass_lower_products
