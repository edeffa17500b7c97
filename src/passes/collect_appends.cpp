// A tensor that a Loop carries only to join more to it (torch.cat in a scripted loop) is copied as a whole in
// each iteration. The loop stacks the parts instead where they are of one shape known beforehand, and carries
// them in a sequence where not; behind the loop they are joined once.
#include <algorithm>

#include "analysis/loop_form.h"
#include "analysis/match.h"
#include "naming/origins.h"
#include "ops/value_type.h"
#include "passes/pass_list.h"

namespace assay::pass_collect_appends {
namespace {

/// The opset from which on a Loop carries sequences, and needs no state.
constexpr int64_t kLoopOfSequences = 13;

void put_beside(Node* added, const Node& original) {
  set_origins(*added, origins_of(original));
  set_beside(*added);
}

/// A state that a Concat makes the next one of, with what comes before or behind it, where nothing else in
/// the loop sees either.
class AppendedState {
 public:
  /// Nothing where state `i` is none.
  static std::optional<AppendedState> find(LoopForm& loop, size_t i) {
    AppendedState s(loop, i);
    const bool is_one = s.find_concat() && s.find_type();
    return is_one ? std::optional(s) : std::nullopt;
  }

  void rewrite() {
    if (!stack_up()) carry_sequence();
  }

 private:
  AppendedState(LoopForm& loop, size_t i)
      : loop_(loop), i_(i), body_(*loop.body), outer_(loop.node->graph()), inside_(loop.inside(i)) {}

  bool find_concat() {
    const Value* next = loop_.next(i_);
    concat_ = next->producer();
    if (loop_.initial(i_) == nullptr || concat_ == nullptr || !is_op(*concat_, "Concat")) return false;
    if (std::count(body_.outputs.begin(), body_.outputs.end(), next) != 1 || !next->consumers().empty())
      return false;
    if (inside_->consumers().size() != 1 || is_given_out(body_, inside_)) return false;
    added_ = concat_->inputs();
    if (added_.size() < 2 || std::find(added_.begin(), added_.end(), nullptr) != added_.end()) return false;
    is_appended_ = added_.front() == inside_;
    if (!is_appended_ && added_.back() != inside_) return false;
    added_.erase(is_appended_ ? added_.begin() : added_.end() - 1);
    axis_ = int_attribute(*concat_, "axis", 0);
    return true;
  }

  /// A sequence must have its element type from the beginning.
  bool find_type() {
    for (const Value* v : {loop_.initial(i_), inside_, loop_.next(i_)}) {
      if (v->type.is_tensor() && dtype_ == DType::kUndefined) dtype_ = v->type.dtype;
    }
    return dtype_ != DType::kUndefined;
  }

  /// What one iteration adds, as one value: the one that the Concat reads, or its parts joined in the body.
  Value* part() {
    if (added_.size() == 1) return added_[0];
    Value* joined =
        body_.add_value(body_.unique_name(loop_.next(i_)->name() + "/part"), Type::tensor(dtype_));
    put_beside(body_.insert_node(concat_, "Concat", added_, {joined}, {{"axis", axis_}}), *concat_);
    return joined;
  }

  /// The shape of what one iteration adds to the front axis, where it is known and fits the initial state
  /// whatever comes; nothing else, and nothing without elements.
  std::optional<Shape> part_shape() const {
    const Type& first = loop_.initial(i_)->type;
    std::optional<Shape> shape = shape_of(added_[0]);
    if (!is_appended_ || !shape || !first.has_shape() || axis_ + (axis_ < 0 ? shape->rank() : 0) != 0)
      return std::nullopt;
    for (size_t k = 1; k < added_.size(); ++k) {
      const std::optional<Shape> more = shape_of(added_[k]);
      if (!more || more->rank() != shape->rank()) return std::nullopt;
      (*shape)[0] += (*more)[0];
    }
    if (shape->numel() == 0 || first.dims->size() != static_cast<size_t>(shape->rank())) return std::nullopt;
    for (int d = 1; d < shape->rank(); ++d)
      if (!(*first.dims)[static_cast<size_t>(d)].same_as(Dim((*shape)[d]))) return std::nullopt;
    return shape;
  }

  bool stack_up() {
    std::optional<Shape> shape = part_shape();
    if (!shape) return false;
    Node& n = *loop_.node;
    Value *first = loop_.initial(i_), *final = loop_.final(i_), *entry = part();
    // An output of its own.
    if (entry->producer() == nullptr || &entry->graph() != &body_ || is_given_out(body_, entry)) {
      Value* same = body_.add_value(body_.unique_name(loop_.next(i_)->name() + "/entry"), entry->type);
      put_beside(body_.insert_node(concat_, "Identity", {entry}, {same}), *concat_);
      entry = same;
    }
    entry->type = Type::tensor(dtype_, *shape);
    remove_state(loop_, i_);
    body_.remove_node(concat_);
    body_.outputs.push_back(entry);
    body_.remove_unused_values();
    Dims stacked = to_dims(*shape);
    stacked.insert(stacked.begin(), Dim());
    Value* all = outer_.add_value(outer_.unique_name(entry->name() + "/all"), Type::tensor(dtype_, stacked));
    std::vector<Value*> outputs = n.outputs();
    outputs.push_back(all);
    n.set_outputs(std::move(outputs));
    if (final == nullptr) return true;
    (*shape)[0] = -1;
    Value* form = outer_.add_constant(outer_.unique_name(all->name() + "/shape"),
                                      Tensor::vector<int64_t>(shape->dims()));
    Value* parts = outer_.add_value(outer_.unique_name(all->name() + "/parts"));
    const Node* place = behind_loop();
    put_beside(outer_.insert_node(place, "Reshape", {all, form}, {parts}), n);
    put_beside(outer_.insert_node(place, "Concat", {first, parts}, {final}, {{"axis", int64_t{0}}}), n);
    return true;
  }

  void carry_sequence() {
    const Type parts = sequence_of(Type::tensor(dtype_));
    Value *next = loop_.next(i_), *final = loop_.final(i_);
    std::vector<Value*> inputs = {inside_, part()};
    if (!is_appended_)
      inputs.push_back(
          body_.add_constant(body_.unique_name(next->name() + "/position"), Tensor::scalar<int64_t>(0)));
    Node* insert = body_.insert_node(concat_, "SequenceInsert", std::move(inputs), {}, {}, concat_->name);
    body_.remove_node(concat_);
    insert->set_outputs({next});
    inside_->type = next->type = parts;

    Node& n = *loop_.node;
    Value* first = outer_.add_value(outer_.unique_name(next->name() + "/first"), parts);
    put_beside(outer_.insert_node(&n, "SequenceConstruct", {loop_.initial(i_)}, {first}), n);
    n.set_input(loop_.leading_inputs + i_, first);
    if (final == nullptr) return;
    Value* all = outer_.add_value(outer_.unique_name(next->name() + "/parts"), parts);
    std::vector<Value*> outputs = n.outputs();
    outputs[i_] = all;
    n.set_outputs(std::move(outputs));
    put_beside(outer_.insert_node(behind_loop(), "ConcatFromSequence", {all}, {final}, {{"axis", axis_}}), n);
  }

  /// The node that follows; null at the graph's end.
  const Node* behind_loop() const {
    const auto& nodes = outer_.nodes();
    auto it =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& each) { return each.get() == loop_.node; });
    return ++it != nodes.end() ? it->get() : nullptr;
  }

  LoopForm& loop_;
  size_t i_;
  Graph &body_, &outer_;
  Value* inside_;
  Node* concat_ = nullptr;
  std::vector<Value*> added_;  ///< what the Concat joins to the state
  bool is_appended_ = false;   ///< else it comes before the state
  int64_t axis_ = 0;
  DType dtype_ = DType::kUndefined;
};

bool run(Model& model) {
  if (model.opset() < kLoopOfSequences) return false;
  bool changed = false;
  for (LoopForm& loop : loops_of(model)) {
    if (!loop.is_loop()) continue;
    for (size_t i = loop.states; i-- > 0;) {
      std::optional<AppendedState> state = AppendedState::find(loop, i);
      if (!state) continue;
      state->rewrite();
      changed = true;
    }
  }
  return changed;
}

}  // namespace

constinit const PassDef def = {
    .name = "collect_appends",
    .summary = "what a loop only appends to is stacked, or collected in a sequence, and joined behind it",
    .conditions =
        "Opset 13 or later. The loop reads the state only to join something to it, and nothing else sees the "
        "result of the Concat; its element type is known. What is joined is stacked where its extents are "
        "numbers that fit the initial state and hold elements, else it is carried in a sequence.",
    .run = run,
};

}  // namespace assay::pass_collect_appends
