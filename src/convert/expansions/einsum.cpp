// Einsum as a chain of pairwise products: MatMul if a common index is summed over, Mul otherwise.
// Broadcasting axes are not merged, so few extents need to be known.
#include <algorithm>
#include <map>

#include "convert/expansions/parts.h"
#include "convert/steps.h"
#include "ops/nn/einsum_equation.h"

namespace assay {
namespace {

using Ints = std::vector<int64_t>;

bool contains(const EinsumTerm& term, EinsumLabel label) {
  return std::find(term.begin(), term.end(), label) != term.end();
}

EinsumTerm join(EinsumTerm a, const EinsumTerm& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A value whose axes have labels, each once.
struct Labelled {
  Value* value;
  EinsumTerm labels;
  std::map<EinsumLabel, Dim> extents;
};

class EinsumFormula {
 public:
  explicit EinsumFormula(Rewrite& r) : r_(r) {
    std::vector<int> ranks;
    for (size_t i = 0; i < r.node().inputs().size(); ++i) ranks.push_back(r.rank(i));
    equation_ = parse_einsum(r.get_string("equation", ""), ranks);
  }

  void expand() {
    Labelled product = operand(0);
    for (size_t i = 1; i < equation_.inputs.size(); ++i)
      product = contract(product, operand(i), wanted_after(i));
    r_.replace({arrange(product, equation_.output).value});
  }

 private:
  /// Labels that the output or a later input has.
  EinsumTerm wanted_after(size_t i) const {
    EinsumTerm wanted = equation_.output;
    for (size_t k = i + 1; k < equation_.inputs.size(); ++k) wanted = join(wanted, equation_.inputs[k]);
    return wanted;
  }

  /// Input i with every label once, and summed over those that nothing else has.
  Labelled operand(size_t i) {
    Labelled x{r_.input(i), {}, {}};
    const EinsumTerm& own = equation_.inputs[i];
    const Dims& dims = *r_.input(i)->type.dims;
    for (size_t d = 0; d < own.size(); ++d) {
      if (contains(x.labels, own[d])) {
        x = diagonal(x, own, d, dims);
        continue;
      }
      x.labels.push_back(own[d]);
      x.extents[own[d]] = dims[d];
    }
    EinsumTerm others = equation_.output;
    for (size_t k = 0; k < equation_.inputs.size(); ++k)
      if (k != i) others = join(others, equation_.inputs[k]);
    EinsumTerm alone;
    for (const EinsumLabel label : x.labels)
      if (!contains(others, label)) alone.push_back(label);
    return sum(x, alone);
  }

  /// The diagonal of axis d and the earlier one of its label, gathered from both axes flattened. `x` also has
  /// the axes after d, still without labels.
  Labelled diagonal(Labelled x, const EinsumTerm& own, size_t d, const Dims& dims) {
    const EinsumLabel label = own[d];
    const Dim &first = x.extents[label], &second = dims[d];
    if (!first.is_known() || !second.is_known() || first.value() != second.value() || first.value() == 0)
      no_equivalent("a diagonal of extents {} and {}", first.str(), second.str());
    const int64_t n = listable(first.value(), "elements on a diagonal");
    const auto at =
        static_cast<int64_t>(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
    const auto here = static_cast<int64_t>(x.labels.size());
    const auto rank = static_cast<int64_t>(own.size() - (d - x.labels.size()));
    Ints perm, shape, back, places;
    for (int64_t k = 0; k < rank; ++k)
      if (k != at && k != here) perm.push_back(k);
    shape.assign(perm.size(), 0);
    shape.push_back(n * n);
    perm.push_back(at);
    perm.push_back(here);
    for (int64_t k = 0; k < n; ++k) places.push_back(k * (n + 1));
    const AttributeList last = {{"axis", rank - 2}};
    Value* row = reshape(r_, transpose(r_, x.value, perm), shape);
    row = r_.add("Gather", {row, r_.ints(places, "diagonal")}, last);
    // The label's axis goes back to its place.
    for (int64_t k = 0; k < rank - 1; ++k) back.push_back(k < at ? k : k == at ? rank - 2 : k - 1);
    x.value = transpose(r_, row, back);
    return x;
  }

  Labelled sum(Labelled x, const EinsumTerm& over) {
    if (over.empty()) return x;
    Ints axes;
    EinsumTerm left;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (contains(over, x.labels[d]))
        axes.push_back(static_cast<int64_t>(d));
      else
        left.push_back(x.labels[d]);
    }
    const AttributeList attributes = {{"axes", axes}, {"keepdims", int64_t{0}}};
    x.value = r_.add("ReduceSum", {x.value}, attributes);
    x.labels = left;
    return x;
  }

  /// The same labels in another order.
  Labelled arrange(Labelled x, const EinsumTerm& order) {
    if (x.labels == order) return x;
    Ints perm;
    for (const EinsumLabel label : order)
      perm.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
    x.value = transpose(r_, x.value, perm);
    x.labels = order;
    return x;
  }

  /// New axes of extent 1 for the labels of `frame` that `x` lacks; those that it has come in their order.
  Value* spread(const Labelled& x, const EinsumTerm& frame) {
    EinsumTerm own;
    Ints missing;
    for (size_t d = 0; d < frame.size(); ++d) {
      if (contains(x.labels, frame[d]))
        own.push_back(frame[d]);
      else
        missing.push_back(static_cast<int64_t>(d));
    }
    const Labelled y = arrange(x, own);
    if (missing.empty()) return y.value;
    const AttributeList axes = {{"axes", missing}};
    return r_.add("Unsqueeze", {y.value}, axes);
  }

  Labelled contract(const Labelled& a, const Labelled& b, const EinsumTerm& wanted) {
    EinsumTerm batch, left, right, summed;
    for (const EinsumLabel label : a.labels) {
      if (!contains(b.labels, label))
        left.push_back(label);
      else
        (contains(wanted, label) ? batch : summed).push_back(label);
    }
    for (const EinsumLabel label : b.labels)
      if (!contains(a.labels, label)) right.push_back(label);
    Labelled out{nullptr, {}, a.extents};
    for (const auto& [label, extent] : b.extents)
      if (Dim& d = out.extents[label]; !d.is_known() || d.value() == 1) d = extent;
    if (!can_multiply(a, b, summed)) {
      out.labels = join(join(batch, left), join(right, summed));
      out.value = r_.add("Mul", {spread(a, out.labels), spread(b, out.labels)});
      return sum(out, summed);
    }
    // The last axes of both sides are rows and columns; the others broadcast in front of them.
    const EinsumTerm rows = last_of(left), columns = last_of(right);
    left.resize(left.size() - rows.size());
    right.resize(right.size() - columns.size());
    const EinsumTerm front = join(batch, join(left, right));
    Value* x = matrix(a, front, rows, summed);
    const AttributeList flip = {{"perm", flipped(front.size() + 2)}};
    Value* y = r_.add("Transpose", {matrix(b, front, columns, summed)}, flip);
    out.value = r_.add("MatMul", {x, y});
    out.labels = join(front, join(rows, columns));
    Ints none;
    const auto rank = static_cast<int64_t>(front.size());
    if (rows.empty()) none.push_back(rank);
    if (columns.empty()) none.push_back(rank + 1);
    const AttributeList axes = {{"axes", none}};
    if (!none.empty()) out.value = r_.add("Squeeze", {out.value}, axes);
    return out;
  }

  static EinsumTerm last_of(const EinsumTerm& term) {
    return term.empty() ? EinsumTerm() : EinsumTerm{term.back()};
  }

  static Ints flipped(size_t rank) {
    Ints perm;
    for (size_t d = 0; d < rank; ++d) perm.push_back(static_cast<int64_t>(d));
    std::swap(perm[rank - 1], perm[rank - 2]);
    return perm;
  }

  /// True when the summed extents agree on both sides without broadcasting, and can be merged.
  static bool can_multiply(const Labelled& a, const Labelled& b, const EinsumTerm& summed) {
    if (summed.empty()) return false;
    return std::all_of(summed.begin(), summed.end(), [&](EinsumLabel label) {
      const Dim &x = a.extents.at(label), &y = b.extents.at(label);
      return x.same_as(y) && (summed.size() == 1 || x.value() > 0);
    });
  }

  /// [front..., row, summed], where the row may be missing and the summed labels are one axis.
  Value* matrix(const Labelled& x, const EinsumTerm& front, const EinsumTerm& row, const EinsumTerm& summed) {
    // A label that no term has represents a missing row.
    constexpr EinsumLabel kNone = -1;
    const EinsumTerm head = join(front, row.empty() ? EinsumTerm{kNone} : row);
    Value* v = spread(x, join(head, summed));
    if (summed.size() == 1) return v;
    int64_t merged = 1;
    for (const EinsumLabel label : summed) merged *= x.extents.at(label).value();
    Ints shape(head.size(), 0);
    shape.push_back(merged);
    return reshape(r_, v, shape);
  }

  Rewrite& r_;
  EinsumEquation equation_;
};

void expand_einsum(Rewrite& r) { EinsumFormula(r).expand(); }

}  // namespace

constinit const Expansion expansion_onnx_Einsum = {"", "Einsum", 11, "MatMul, Mul and ReduceSum",
                                                   expand_einsum};

}  // namespace assay
