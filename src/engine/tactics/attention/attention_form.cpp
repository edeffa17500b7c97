#include "engine/tactics/attention/attention_form.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "analysis/extents.h"
#include "analysis/match.h"
#include "engine/tactics/move/strided_view.h"
#include "passes/region.h"

namespace assay::engine {
namespace {

using kernels::AttentionMask;
using kernels::AttentionRows;

/// More nodes than there are between a product and its softmax, and before an operand.
constexpr size_t kMaxChain = 8;

bool is_f32(const Value* v) { return dtype_of(v) == DType::kFloat32; }

/// What lies between the product and the softmax, from the back.
struct Chain {
  struct Mask {
    AttentionMask mask;
    Value* value;
    Shape scores;  ///< what it is applied to
  };
  std::vector<Mask> masks;
  std::vector<const Node*> nodes;
  std::vector<Shape> shapes;
  double scale = 1;
  bool is_scaled = false;
  const Node* product = nullptr;
};

class Search {
 public:
  Search(const Node& softmax, const PassContext& context, const std::function<bool(const Node&)>& may_take)
      : softmax_(softmax), context_(context), may_take_(may_take) {}

  std::optional<AttentionForm> run() {
    if (!may_take_(softmax_) || softmax_.output(0) == nullptr || !is_f32(softmax_.output(0)))
      return std::nullopt;
    const std::optional<Shape> shape = shape_of(softmax_.output(0));
    if (!shape || shape->rank() < 2 || shape->rank() > 4 || shape->numel() == 0) return std::nullopt;
    Chain chain;
    if (!begin(chain, *shape) || !go_back(softmax_.input(0), softmax_, chain)) return std::nullopt;
    const Node* last = go_on();
    if (last == nullptr || !find_extents(chain, *shape)) return std::nullopt;
    form_.softmax = &softmax_;
    form_.problem.scale = static_cast<float>(chain.scale);
    core_ = chain.nodes;
    core_.insert(core_.end(), {&softmax_, chain.product});
    core_.insert(core_.end(), after_.begin(), after_.end());
    if (!place_masks(chain) || !place_result() || !place_operands(*chain.product)) return std::nullopt;
    return std::move(form_);
  }

 private:
  /// The scale and mask of a region.
  bool begin(Chain& chain, const Shape& shape) {
    if (is_region(softmax_, kSoftmax)) {
      if (int_attribute(softmax_, "has_mask", 0) != 0 && !add_mask({}, softmax_.input(1), shape, chain))
        return false;
      scale(chain, float_attribute(softmax_, "scale", 1));
      return true;
    }
    if (!is_op(softmax_, "Softmax")) return false;
    const int64_t axis = int_attribute(softmax_, "axis", context_.model.opset() < 13 ? 1 : -1);
    return axis == -1 || axis == shape.rank() - 1;
  }

  static void scale(Chain& chain, double factor) {
    chain.scale *= factor;
    chain.is_scaled = chain.is_scaled || factor != 1;
  }

  /// Goes from the back: a mask before the scale would be scaled, too.
  bool add_mask(const AttentionMask& mask, Value* value, const Shape& scores, Chain& chain) {
    const std::optional<Shape> shape = shape_of(value);
    const DType dtype = mask.kind == AttentionMask::Kind::kAdded ? DType::kFloat32 : DType::kBool;
    if (chain.is_scaled || !shape || dtype_of(value) != dtype || shape->rank() > scores.rank()) return false;
    for (size_t i = 1; i <= shape->size(); ++i) {
      const int64_t extent = (*shape)[shape->size() - i];
      if (extent != 1 && extent != scores[scores.size() - i]) return false;
    }
    chain.masks.push_back({mask, value, scores});
    return true;
  }

  /// From a value of the scores to the product that makes them. On failure the chain holds some nodes more.
  bool go_back(Value* v, const Node& user, Chain& chain) {
    const Node* n = v->producer();
    const std::optional<Shape> shape = shape_of(v);
    if (n == nullptr || !shape || chain.nodes.size() > kMaxChain || !may_take_(*n) ||
        context_.sole_consumer(v) != &user)
      return false;
    if (is_op(*n, "MatMul")) {
      chain.product = n;
      chain.shapes.push_back(*shape);
      return true;
    }
    chain.nodes.push_back(n);
    chain.shapes.push_back(*shape);
    if (is_op(*n, "Reshape")) return go_back_over_reshape(*n, *shape, chain);
    if (is_op(*n, "Mul") || is_op(*n, "Div")) return go_back_over_factor(*n, *shape, chain);
    if (is_op(*n, "Where")) return go_back_over_where(*n, *shape, chain);
    return is_op(*n, "Add") && go_back_over_sum(*n, *shape, chain);
  }

  /// Rows of keys stay as they are.
  bool go_back_over_reshape(const Node& n, const Shape& shape, Chain& chain) {
    const std::optional<Shape> before = shape_of(n.input(0));
    return before && !before->empty() && before->back() == shape.back() && go_back(n.input(0), n, chain);
  }

  /// A mask that hides scores: one number takes their place.
  bool go_back_over_where(const Node& n, const Shape& shape, Chain& chain) {
    for (const bool when : {true, false}) {
      Value* const scores = n.input(when ? 2 : 1);
      const std::optional<double> fill = scalar_of(n.input(when ? 1 : 2));
      if (!fill || shape_of(scores) != shape) continue;
      return add_mask({.kind = AttentionMask::Kind::kHides, .when = when, .fill = static_cast<float>(*fill)},
                      n.input(0), shape, chain) &&
             go_back(scores, n, chain);
    }
    return false;
  }

  /// A mask that is added. Either operand may be the scores: the one that a product is found behind is.
  bool go_back_over_sum(const Node& n, const Shape& shape, Chain& chain) {
    for (const size_t side : {0, 1}) {
      if (shape_of(n.input(side)) != shape || n.input(0) == n.input(1)) continue;
      Chain longer = chain;
      if (add_mask({}, n.input(1 - side), shape, longer) && go_back(n.input(side), n, longer)) {
        chain = std::move(longer);
        return true;
      }
    }
    return false;
  }

  bool go_back_over_factor(const Node& n, const Shape& shape, Chain& chain) {
    const std::optional<Factor> factor = factor_of(n);
    if (!factor || shape_of(factor->value) != shape) return false;
    scale(chain, factor->number);
    return go_back(factor->value, n, chain);
  }

  /// From the softmax to the last node that is taken; null when there is no product with values.
  const Node* go_on() {
    const Value* v = softmax_.output(0);
    const auto next = [&](std::string_view op) -> const Node* {
      const Node* n = context_.sole_consumer(v);
      return n != nullptr && is_op(*n, op) && n->input(0) == v && may_take_(*n) && shape_of(n->output(0))
                 ? n
                 : nullptr;
    };
    const auto take = [&](const Node* n) {
      after_.push_back(n);
      v = n->output(0);
    };
    const std::optional<Shape> shape = shape_of(v);
    if (const Node* n = next("Reshape"); n != nullptr && shape_of(n->output(0))->back() == shape->back())
      take(n);
    const Node* product = next("MatMul");
    if (product == nullptr || product->input(1) == v) return nullptr;
    values_ = product->input(1);
    take(product);
    if (const Node* n = next("Reshape"); n != nullptr && shape_of(n->output(0))->rank() == 4) {
      const Shape from = *shape_of(v), to = *shape_of(n->output(0));
      // Heads stay apart from each other: what joins them is a view that others may want for themselves.
      if (to.back() == from.back()) take(n);
    }
    if (const Node* n = next("Transpose")) {
      const auto perm = permutation_of(*n);
      if (perm && perm->size() == 4 && perm->back() == 3) take(n);
    }
    return after_.back();
  }

  /// Batch, heads, queries, keys.
  bool find_extents(const Chain& chain, const Shape& softmax_shape) {
    kernels::Attention& a = form_.problem;
    const std::optional<Shape> product = shape_of(chain.product->output(0));
    std::vector<Shape> shapes = {softmax_shape};
    shapes.insert(shapes.end(), chain.shapes.begin(), chain.shapes.end());
    for (const Node* n : after_)
      shapes.push_back(*shape_of(is_op(*n, "Transpose") ? n->input(0) : n->output(0)));
    const auto four =
        std::find_if(shapes.begin(), shapes.end(), [](const Shape& s) { return s.rank() == 4; });
    const Shape s = four != shapes.end() ? *four : softmax_shape;
    a.batch = s.rank() == 4 ? s[0] : 1;
    a.heads = s.rank() == 4 ? s[1] : s.rank() == 3 ? s[0] : 1;
    a.queries = s[s.size() - 2];
    a.keys = softmax_shape.back();
    return product->numel() == softmax_shape.numel() &&
           a.batch * a.heads * a.queries * a.keys == product->numel();
  }

  bool place_masks(const Chain& chain) {
    const kernels::Attention& a = form_.problem;
    for (size_t i = chain.masks.size(); i-- > 0;) {
      Chain::Mask m = chain.masks[i];
      Shape scores = m.scores, own = *shape_of(m.value);
      while (scores.size() < 3) scores.insert_at(0, 1);
      while (own.size() < scores.size()) own.insert_at(0, 1);
      const std::vector<int64_t> dense = own.strides();
      std::vector<int64_t> strides;
      for (size_t d = 0; d < own.size(); ++d) strides.push_back(own[d] == 1 ? 0 : dense[d]);
      if (scores == Shape{a.batch, a.heads, a.queries, a.keys})
        m.mask.batch = strides[0];
      else if (scores == Shape{a.batch * a.heads, a.queries, a.keys})
        m.mask.batch = a.heads * strides[0];
      else if (!place_windows(scores, strides, m.mask))
        return false;
      const size_t rank = scores.size();
      m.mask.head = strides[rank - 3];
      m.mask.query = strides[rank - 2];
      m.mask.key = strides[rank - 1];
      form_.problem.masks.push_back(m.mask);
      form_.masks.push_back(m.value);
    }
    return true;
  }

  /// A mask of windows that are the batch: [images, windows, heads, queries, keys]. Images may share it.
  bool place_windows(const Shape& scores, const std::vector<int64_t>& strides, AttentionMask& mask) const {
    const kernels::Attention& a = form_.problem;
    if (scores.size() != 5 || scores[0] * scores[1] != a.batch ||
        Shape({scores[2], scores[3], scores[4]}) != Shape{a.heads, a.queries, a.keys})
      return false;
    const bool is_shared = strides[0] == 0 && scores[0] > 1;
    if (!is_shared && scores[0] > 1 && strides[0] != scores[1] * strides[1]) return false;
    mask.batch = strides[1];
    mask.period = is_shared && strides[1] != 0 ? scores[1] : 0;
    return true;
  }

  bool place_result() {
    kernels::Attention& a = form_.problem;
    const Node& last = *after_.back();
    const Shape out = *shape_of(last.output(0));
    a.value_size = out.back();
    Shape whole{a.batch, a.heads, a.queries, a.value_size};
    std::vector<int64_t> strides = whole.strides();
    if (is_op(last, "Transpose")) {
      if (shape_of(last.input(0)) != whole) return false;
      const std::vector<int64_t> dense = out.strides(), perm = *permutation_of(last);
      for (size_t d = 0; d < 4; ++d) strides[static_cast<size_t>(perm[d])] = dense[d];
    }
    a.result = {strides[0], strides[1], strides[2], 1};
    return out.numel() == whole.numel() && is_f32(last.output(0));
  }

  /// An operand's nodes from the product outwards, as far as they only say where numbers lie.
  struct Operand {
    Value* value;
    bool may_scale;
    size_t taken = 0;
    std::vector<ViewStep> steps;
    AttentionOperand place;
    StridedView view;
  };
  /// Query, key and value.
  using Operands = std::array<Operand, 3>;
  using OperandShapes = std::array<Shape, 3>;

  Operand follow(Value* v, bool may_scale) const {
    Operand o{.value = v, .may_scale = may_scale, .taken = 0, .steps = {}, .place = {}, .view = {}};
    while (o.steps.size() < kMaxChain) {
      const Node* n = v->producer();
      if (n == nullptr || !may_take_(*n)) break;
      const std::optional<ViewStep> step = view_step(*v);
      if (!step || (step->factor != 1 && !may_scale)) break;
      o.steps.push_back(*step);
      v = step->source;
    }
    o.taken = o.steps.size();
    return o;
  }

  bool is_inside(const Node& n, const std::unordered_set<const Node*>& inside) const {
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      if (context_.is_pinned(v) || context_.is_widely_used(v)) return false;
      for (const Node* user : v->consumers())
        if (!inside.contains(user)) return false;
    }
    return true;
  }

  static Value* base_of(const Operand& o) { return o.taken == 0 ? o.value : o.steps[o.taken - 1].source; }

  /// Cuts operands where a node is wanted outside, too, or by an operand that was cut behind it. True when
  /// nothing was cut.
  bool cut(Operands& operands) const {
    std::unordered_set<const Node*> inside(core_.begin(), core_.end());
    std::unordered_set<const Node*> wanted;
    for (const Operand& o : operands) {
      for (size_t i = 0; i < o.taken; ++i) inside.insert(o.steps[i].node);
      wanted.insert(base_of(o)->producer());
    }
    for (Operand& o : operands)
      for (size_t i = 0; i < o.taken; ++i)
        if (wanted.contains(o.steps[i].node) || !is_inside(*o.steps[i].node, inside)) {
          o.taken = i;
          return false;
        }
    return true;
  }

  /// The operand as a view of what its steps begin with, in this shape; false when it is none.
  bool place(Operand& o, const Shape& shape) const {
    Value* base = base_of(o);
    const std::optional<Shape> extents = shape_of(base);
    if (!extents || !is_f32(base)) return false;
    StridedView view(*extents);
    for (size_t i = o.taken; i-- > 0;)
      if (!view.apply(o.steps[i])) return false;
    if (!view.reshape(shape)) return false;
    o.view = view;
    o.place = {base, view.offset()};
    return true;
  }

  /// Of operands of one rank: heads of the keys and values, each of which some heads of queries share;
  /// nothing when the extents are not attention's.
  std::optional<int64_t> heads_of_keys(const Shape& q, const Shape& k, const Shape& v) const {
    const kernels::Attention& a = form_.problem;
    const bool is_stack = q.rank() != 4;
    // Heads of keys and values in their own shapes; of a stack, the images and heads in one.
    const int64_t batch = is_stack ? a.batch : k[0], heads = is_stack ? a.heads : k[1];
    const bool are_alike = is_stack || (v[0] == batch && v[1] == heads);
    if (batch != a.batch || !are_alike || heads > a.heads || a.heads % heads != 0) return std::nullopt;
    const int64_t size = q.back();
    const bool have_extents = k.numel() == batch * heads * size * a.keys &&
                              v.numel() == batch * heads * a.keys * a.value_size &&
                              q.numel() == a.batch * a.heads * a.queries * size && q.numel() != 0;
    return have_extents ? std::optional(heads) : std::nullopt;
  }

  /// An operand with too many nodes for the kernel to read it where they begin; null when there is none.
  Operand* find_misplaced(Operands& operands, const OperandShapes& shapes) const {
    for (size_t i = 0; i < operands.size(); ++i)
      if (!place(operands[i], shapes[i]) || !fits(operands[i].view, i)) return &operands[i];
    // Both share heads in the same way, or in none.
    const int64_t keys = operands[1].view.repeat(1), values = operands[2].view.repeat(1);
    return keys == values ? nullptr : &operands[keys > values ? 1 : 2];
  }

  /// Gives up nodes until every operand can be read where its first one begins; false when one cannot be at
  /// all.
  bool place_all(Operands& operands, const OperandShapes& shapes) const {
    for (;;) {
      if (!cut(operands)) continue;
      Operand* const misplaced = find_misplaced(operands, shapes);
      if (misplaced == nullptr) return true;
      if (misplaced->taken == 0) return false;
      --misplaced->taken;
    }
  }

  bool place_operands(const Node& product) {
    kernels::Attention& a = form_.problem;
    const std::optional<Shape> q = shape_of(product.input(0)), k = shape_of(product.input(1)),
                               v = shape_of(values_);
    if (!q || !k || !v || q->rank() < 2 || k->rank() != q->rank() || v->rank() != q->rank()) return false;
    const std::optional<int64_t> heads = heads_of_keys(*q, *k, *v);
    if (!heads) return false;
    a.size = q->back();
    Operands operands = {follow(product.input(0), true), follow(product.input(1), true),
                         follow(values_, false)};
    if (!place_all(operands,
                   {Shape{a.batch, a.heads, a.queries, a.size}, Shape{a.batch, *heads, a.size, a.keys},
                    Shape{a.batch, *heads, a.keys, a.value_size}}))
      return false;
    a.groups = *heads / operands[1].view.repeat(1);
    set_operands(operands);
    return true;
  }

  void set_operands(const Operands& operands) {
    kernels::Attention& a = form_.problem;
    const auto strides = [](const Operand& o) { return o.view.strides(); };
    const std::vector<int64_t> qs = strides(operands[0]), ks = strides(operands[1]),
                               vs = strides(operands[2]);
    a.query = {qs[0], qs[1], qs[2], qs[3]};
    a.key = {ks[0], ks[1], ks[3], ks[2]};
    a.value = {vs[0], vs[1], vs[2], vs[3]};
    form_.query = operands[0].place;
    form_.key = operands[1].place;
    form_.value = operands[2].place;
    form_.problem.scale *= static_cast<float>(operands[0].view.factor() * operands[1].view.factor());
    std::unordered_set<const Node*> nodes(core_.begin(), core_.end());
    form_.nodes = core_;
    for (const Operand& o : operands)
      for (size_t i = 0; i < o.taken; ++i)
        if (nodes.insert(o.steps[i].node).second) form_.nodes.push_back(o.steps[i].node);
  }

  /// Elements of a query lie side by side; only heads of keys and values repeat.
  static bool fits(const StridedView& view, size_t operand) {
    for (size_t d = 0; d < 4; ++d)
      if (view.repeat(d) != 1 && (d != 1 || operand == 0)) return false;
    return operand != 0 || view.shape()[3] == 1 || view.strides()[3] == 1;
  }

  const Node& softmax_;
  const PassContext& context_;
  const std::function<bool(const Node&)>& may_take_;
  AttentionForm form_;
  std::vector<const Node*> core_, after_;
  Value* values_ = nullptr;
};

}  // namespace

std::optional<AttentionForm> find_attention(const Node& softmax, const PassContext& context,
                                            const std::function<bool(const Node&)>& may_take) {
  return Search(softmax, context, may_take).run();
}

}  // namespace assay::engine
