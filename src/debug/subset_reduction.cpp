#include "debug/subset_reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "assay/edit.h"
#include "assay/error.h"
#include "debug/anonymous.h"
#include "debug/minimal_subset.h"
#include "debug/part.h"
#include "debug/ranges.h"
#include "graph/clone.h"
#include "graph/order.h"
#include "ops/infer.h"
#include "passes/pass_list.h"
#include "surgeon/extract.h"
#include "surgeon/input_shapes.h"

namespace assay::debug {
namespace {

class SubsetReduction {
 public:
  SubsetReduction(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                  Iterations& iterations, ReductionObserver& observer)
      : current_(model), options_(options), iterations_(iterations), observer_(observer) {}

  Reduction run() {
    iterations_.begin("");
    const Answer whole = ask("the whole model", [&] { return current_; });
    if (whole.kind != AnswerKind::kFailure && whole.kind != AnswerKind::kFlaky) refuse(whole);
    sought_ = whole;
    iterations_.seek(whole);
    reduce_nodes();
    while (enter_body() || inline_functions()) reduce_nodes();
    reduce_outputs();
    reduce_attributes();
    reduce_extents();
    if (options_.anonymises) {
      replace_names();
      replace_own_weights();
    }
    const Answer again = ask("the result once more", [&] { return current_; });
    iterations_.end();
    return {.bad = current_,
            .good = largest_good_,
            .failure = sought_.failure,
            .is_flaky = again.kind != AnswerKind::kFailure,
            .runs = again.runs,
            .failed_runs = again.failed_runs,
            .has_own_names = has_own_names_,
            .own_weights = own_weights_};
  }

 private:
  [[noreturn]] static void refuse(const Answer& answer) {
    Error e(ErrorCode::kInvalidArgument,
            answer.passed()
                ? std::string("the check passes on the whole model: there is no failure to reduce")
                : fmt::format("the whole model could not be checked ({}): {}", answer_kind_name(answer.kind),
                              answer.failure));
    throw e.set_remedy("Let the check fail on the model itself first: it is the first candidate.");
  }

  using Make = std::function<std::shared_ptr<Model>()>;

  /// Of what `make` makes; null: there is nothing to check.
  Iterations::Candidate candidate(const std::string& question, const Make& make) const {
    const auto write = [this, make](const std::string& path) {
      const std::shared_ptr<Model> model = make();
      observer_.save_candidate(path);
      options_.save(*model, path);
    };
    return {.write = write, .question = stage_ + " " + question, .state = {}, .remaining = {}, .instead = {}};
  }
  Answer ask(const std::string& question, const Make& make) {
    return iterations_.run(candidate(question, make)).answer;
  }
  bool fails(const std::string& question, const Make& make) {
    return shows_failure(ask(question, make), sought_);
  }

  using Set = std::vector<size_t>;
  using MakeOf = std::function<std::shared_ptr<Model>(std::span<const size_t>)>;
  /// The smallest of the sets of elements, of which `make` makes models, that fails. `see` is told of
  /// answers.
  Set smallest(size_t count, const MakeOf& make, std::vector<size_t> cut_costs = {},
               const std::function<void(std::span<const size_t>, const Answer&)>& see = {}) {
    const auto of = [&](std::span<const size_t> set) {
      return candidate(ranges_text(set), [&make, own = Set(set.begin(), set.end())] { return make(own); });
    };
    const auto expect = [&](const std::vector<Set>& sets) {
      std::vector<Iterations::Candidate> candidates;
      for (const Set& set : sets) candidates.push_back(of(set));
      iterations_.expect(std::move(candidates));
    };
    const auto fails = [&](std::span<const size_t> set) {
      const Answer answer = iterations_.run(of(set)).answer;
      if (see) see(set, answer);
      return shows_failure(answer, sought_);
    };
    return minimal_subset(count, {.fails = fails,
                                  .cut_costs = std::move(cut_costs),
                                  .expect = expect,
                                  .foresight = iterations_.foresight()});
  }

  void begin_stage(const std::string& what) {
    observer_.begin_phase(what);
    stage_ = fmt::format("{}:{}", ++stages_, what);
  }

  void reduce_nodes() {
    begin_stage("nodes");
    const std::shared_ptr<Model> base = current_;
    // All nodes together are asked about as the model that is cut: what comes out of a cut may fail
    // otherwise.
    const size_t count = base->graph->nodes().size();
    const Set kept = smallest(
        count, [&](std::span<const size_t> nodes) { return part_of(*base, nodes); }, cut_costs(*base->graph),
        [&](std::span<const size_t> nodes, const Answer& answer) {
          if (answer.passed()) note_good(*base, nodes);
        });
    if (kept.size() < count) current_ = part_of(*base, kept);
    observer_.end_phase("nodes", kept.size());
  }

  /// The smallest part that passes and is not smaller than what fails would say most; the last one is near
  /// it.
  void note_good(const Model& base, std::span<const size_t> nodes) {
    if (options_.wants_good) largest_good_ = part_of(base, nodes);
  }

  /// Of a node with bodies: a body as the model, if it fails alone.
  bool enter_body() {
    for (size_t i = 0; i < current_->graph->nodes().size(); ++i)
      for (const Attribute& a : current_->graph->nodes()[i]->attributes) {
        if (a.get_if<std::shared_ptr<Graph>>() == nullptr) continue;
        begin_stage("body");
        const std::string name = a.name;
        std::shared_ptr<Model> made;
        const bool is_there =
            fails(fmt::format("{} of node {}", name, i), [&] { return made = body_of(i, name); });
        // An answer that was known needs the model all the same.
        if (is_there && made == nullptr) made = body_of(i, name);
        observer_.end_phase("body", is_there ? made->graph->nodes().size() : 0);
        if (!is_there) continue;
        current_ = made;
        return true;
      }
    return false;
  }
  std::shared_ptr<Model> body_of(size_t node, const std::string& attribute) const {
    std::shared_ptr<Model> made = clone_model(*current_);
    const Attribute* a = made->graph->nodes()[node]->find_attribute(attribute);
    make_main_graph(*made, **a->get_if<std::shared_ptr<Graph>>());
    sort_topologically(*made->graph);
    return made;
  }

  bool inline_functions() {
    const bool calls =
        std::any_of(current_->graph->nodes().begin(), current_->graph->nodes().end(), [&](const auto& n) {
          return current_->find_function(n->domain, n->op_type, n->overload) != nullptr;
        });
    if (!calls) return false;
    begin_stage("functions");
    const auto make = [&] {
      std::shared_ptr<Model> made = clone_model(*current_);
      pass_inline_functions::def.run(*made);
      sort_topologically(*made->graph);
      infer_shapes(*made, {.on_problem = [](const Node&, const std::string&) {}});
      return made;
    };
    const bool is_there = fails("inlined", make);
    if (is_there) current_ = make();
    observer_.end_phase("functions", current_->functions.size());
    return is_there;
  }

  void reduce_outputs() {
    const size_t count = current_->graph->outputs.size();
    if (count < 2) return;
    begin_stage("outputs");
    const std::shared_ptr<Model> base = current_;
    const auto make = [&](std::span<const size_t> outputs) {
      std::shared_ptr<Model> made = clone_model(*base);
      std::vector<Value*> kept;
      for (const size_t i : outputs) kept.push_back(made->graph->outputs[i]);
      made->graph->outputs = kept;
      cleanup(*made->graph, {.remove_unused_graph_inputs = true, .recurse_subgraphs = false});
      return made;
    };
    const Set kept = smallest(count, make);
    if (kept.size() < count) current_ = make(kept);
    observer_.end_phase("outputs", kept.size());
  }

  /// Leaves out attributes, one after the other: of what is not needed the default does.
  void reduce_attributes() {
    size_t count = 0;
    for (const auto& n : current_->graph->nodes()) count += n->attributes.size();
    constexpr size_t kMost = 64;  // of a part that could not be made small they say little
    if (count == 0 || count > kMost) return;
    begin_stage("attributes");
    const auto bare = [&] { return without_attributes(); };
    if (fails("all", bare)) {
      current_ = bare();
      observer_.end_phase("attributes", 0);
      return;
    }
    for (size_t i = 0; i < current_->graph->nodes().size(); ++i) {
      std::vector<std::string> names;
      for (const Attribute& a : current_->graph->nodes()[i]->attributes)
        if (a.get_if<std::shared_ptr<Graph>>() == nullptr) names.push_back(a.name);
      for (const std::string& name : names) {
        const auto make = [&] {
          std::shared_ptr<Model> made = clone_model(*current_);
          made->graph->nodes()[i]->remove_attribute(name);
          check_types(*made);
          return made;
        };
        if (!fails(fmt::format("{} of node {}", name, i), make)) continue;
        current_ = make();
        --count;
      }
    }
    observer_.end_phase("attributes", count);
  }

  std::shared_ptr<Model> without_attributes() const {
    std::shared_ptr<Model> made = clone_model(*current_);
    for (const auto& n : made->graph->nodes())
      std::erase_if(n->attributes, [](const Attribute& a) {
        return a.get_if<std::shared_ptr<Graph>>() == nullptr && a.get_if<Attribute::Graphs>() == nullptr;
      });
    check_types(*made);
    return made;
  }

  /// Infers types anew; throws Error where an operator's rules forbid what there is.
  static void check_types(Model& model) {
    forget_shapes(*model.graph);
    infer_shapes(model, {});
  }

  /// Smaller extents of the inputs, as long as weights and constants go with them: all at once, or one after
  /// the other.
  void reduce_extents() {
    begin_stage("extents");
    size_t left = 0;
    if (has_several_extents() && try_made("all extents 1", [&] { return with_extents_of_one(); })) {
      observer_.end_phase("extents", 0);
      return;
    }
    for (size_t i = 0; i < current_->graph->inputs.size(); ++i)
      for (size_t axis = 0; axis < rank_of(*current_->graph->inputs[i]); ++axis)
        left += reduce_extent(i, axis) > 1 ? 1 : 0;
    observer_.end_phase("extents", left);
  }

  static size_t rank_of(const Value& v) {
    return v.type.is_tensor() && v.type.dims ? v.type.dims->size() : 0;
  }

  bool has_several_extents() const {
    size_t count = 0;
    for (const Value* v : current_->graph->inputs)
      for (size_t axis = 0; axis < rank_of(*v); ++axis) count += (*v->type.dims)[axis].value() > 1 ? 1 : 0;
    return count > 1;
  }

  std::shared_ptr<Model> with_extents_of_one() const {
    std::shared_ptr<Model> made = clone_model(*current_);
    for (Value* v : made->graph->inputs)
      for (size_t axis = 0; axis < rank_of(*v); ++axis)
        if (Dim& d = (*v->type.dims)[axis]; d.value() > 1) d = Dim(1);
    check_types(*made);
    return made;
  }

  /// Goes on with what `make` makes if that fails. What cannot be inferred needs no check, and no iteration.
  bool try_made(const std::string& question, const Make& make) {
    try {
      make();
    } catch (const Error&) {
      return false;
    }
    if (!fails(question, make)) return false;
    current_ = make();
    return true;
  }

  int64_t reduce_extent(size_t input, size_t axis) {
    const auto extent = [&] {
      const Dim& d = (*current_->graph->inputs[input]->type.dims)[axis];
      return d.value();
    };
    if (extent() <= 1) return 1;
    const auto with = [&](int64_t wanted) {
      std::shared_ptr<Model> made = clone_model(*current_);
      const int64_t before = extent();
      for (Value* v : made->graph->inputs) {  // inputs of one extent, such as the batch, go together
        if (!v->type.is_tensor() || !v->type.dims || axis >= v->type.dims->size()) continue;
        Dim& d = (*v->type.dims)[axis];
        if (d.value() == before) d = Dim(wanted);
      }
      check_types(*made);
      return made;
    };
    for (const int64_t wanted : {int64_t{1}, extent() / 2, extent() / 4}) {
      if (wanted <= 0 || wanted >= extent()) continue;
      const bool is_there = try_made(fmt::format("input {} axis {} extent {}", input, axis, wanted),
                                     [&] { return with(wanted); });
      if (is_there && wanted == 1) break;
    }
    return extent();
  }

  void replace_names() {
    begin_stage("names");
    const auto make = [&] {
      std::shared_ptr<Model> made = clone_model(*current_);
      remove_names(*made);
      return made;
    };
    if (fails("generated", make)) {
      current_ = make();
      has_own_names_ = false;
    }
    observer_.end_phase("names", has_own_names_ ? 1 : 0);
  }

  /// All weights at once first, for it is seldom that one matters.
  void replace_own_weights() {
    const size_t count = count_weights(*current_);
    if (count == 0) return;
    begin_stage("weights");
    const std::shared_ptr<Model> base = current_;
    const auto make = [&](std::span<const size_t> kept) {
      std::shared_ptr<Model> made = clone_model(*base);
      replace_weights(*made, kept);
      return made;
    };
    Set kept;
    if (!fails("none", [&] { return make({}); })) kept = smallest(count, make);
    current_ = make(kept);
    own_weights_ = kept.size();
    observer_.end_phase("weights", kept.size());
  }

  std::shared_ptr<Model> current_, largest_good_;
  bool has_own_names_ = true;
  size_t own_weights_ = 0;
  const ReductionOptions& options_;
  Iterations& iterations_;
  ReductionObserver& observer_;
  Answer sought_;
  std::string stage_ = "0";
  size_t stages_ = 0;
};

}  // namespace

Reduction reduce_to_subset(const std::shared_ptr<Model>& model, const ReductionOptions& options,
                           Iterations& iterations, ReductionObserver& observer) {
  return SubsetReduction(model, options, iterations, observer).run();
}

}  // namespace assay::debug
