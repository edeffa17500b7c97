#include "debug/pass_watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "passes/pass_manager.h"
#include "passes/pass_set.h"

namespace assay::debug {
namespace {

constexpr size_t kMostNodes = 10;
constexpr PassStage kWatched[] = {PassStage::kCanonical, PassStage::kSpecialize, PassStage::kIdioms};

std::string attribute_text(const Attribute& a) {
  if (const auto* x = a.get_if<float>()) return fmt::format("{}={}", a.name, *x);
  if (const auto* x = a.get_if<int64_t>()) return fmt::format("{}={}", a.name, *x);
  if (const auto* x = a.get_if<std::string>()) return fmt::format("{}={}", a.name, *x);
  if (const auto* x = a.get_if<std::vector<int64_t>>())
    return fmt::format("{}={}", a.name, fmt::join(*x, " "));
  if (const auto* x = a.get_if<std::vector<float>>()) return fmt::format("{}={}", a.name, fmt::join(*x, " "));
  return a.name;
}

/// What is seen of a change that a pass on the whole model made.
std::string node_text(const Node& n) {
  std::string text = n.op_type;
  for (const Value* v : n.inputs()) text += "," + (v != nullptr ? v->name() : std::string());
  text += ">";
  for (const Value* v : n.outputs()) text += "," + (v != nullptr ? v->name() : std::string());
  for (const Attribute& a : n.attributes) text += ";" + attribute_text(a);
  return text;
}

using NodeTexts = std::multimap<std::string, std::string>;  ///< by what they are, their labels

NodeTexts texts_of(const Graph& g) {
  NodeTexts texts;
  for (const auto& n : g.nodes()) texts.emplace(node_text(*n), n->label());
  return texts;
}

/// Labels of nodes that were otherwise before, and of such as are new.
std::vector<std::string> changed_nodes(NodeTexts before, const NodeTexts& after) {
  std::vector<std::string> labels;
  const auto add = [&](const std::string& label) {
    if (labels.size() < kMostNodes && std::find(labels.begin(), labels.end(), label) == labels.end())
      labels.push_back(label);
  };
  NodeTexts made;
  for (const auto& entry : after) {
    const auto it = before.find(entry.first);
    if (it == before.end())
      made.insert(entry);
    else
      before.erase(it);
  }
  for (const auto& [text, label] : before) add(label);
  for (const auto& [text, label] : made) add(label);
  return labels;
}

}  // namespace

struct PassWatch::State {
  std::shared_ptr<const PassSet> passes;
  Allows allows;
  std::vector<WatchedEdit> edits;

  const PassSet& all() const { return *passes; }

  bool ask(const PassEdit& edit) {
    WatchedEdit e{.pass = std::string(edit.pass.name), .nodes = {}};
    if (edit.patch != nullptr)
      for (const Node* n : edit.patch->removed())
        if (e.nodes.size() < kMostNodes) e.nodes.push_back(n->label());
    if (e.nodes.empty() && edit.node != nullptr) e.nodes.push_back(edit.node->label());
    if (!allows(edits.size(), e)) return false;
    edits.push_back(std::move(e));
    return true;
  }

  bool run(const PassDef& pass, Model& model) {
    const bool is_whole = pass.match == nullptr;
    const NodeTexts before = is_whole ? texts_of(*model.graph) : NodeTexts();
    const size_t known = edits.size();
    const PassDef* const passes_to_run[] = {&pass};
    const std::vector<PassReport> reports =
        run_passes(model, passes_to_run, {.set = passes}, [&](const PassEdit& edit) { return ask(edit); });
    const bool has_changed = !reports.empty() && reports.front().edits > 0;
    if (is_whole && edits.size() > known) {
      if (has_changed)
        edits.back().nodes = changed_nodes(before, texts_of(*model.graph));
      else
        edits.pop_back();  // it found nothing
    }
    return has_changed;
  }
};

namespace {

/// A pass that is watched, under its own name.
class WatchedPass final : public CustomPass {
 public:
  using Run = std::function<bool(const PassDef&, Model&)>;
  WatchedPass(const PassDef& pass, Run run)
      : pass_(pass),
        run_(std::move(run)),
        def_{.name = pass.name, .summary = pass.summary, .conditions = pass.conditions, .custom = this} {}
  WatchedPass(const WatchedPass&) = delete;
  WatchedPass& operator=(const WatchedPass&) = delete;
  bool run(Model& model) const override { return run_(pass_, model); }
  const PassDef& def() const { return def_; }

 private:
  const PassDef& pass_;
  Run run_;
  PassDef def_;
};

}  // namespace

PassWatch::PassWatch(std::shared_ptr<const PassSet> passes, Allows allows)
    : state_(std::make_shared<State>(State{std::move(passes), std::move(allows), {}})) {
  auto set = std::make_shared<PassSet>();
  std::unordered_map<const PassDef*, std::shared_ptr<WatchedPass>> watched;
  const PassSet& all = state_->all();
  for (const PassStage stage : kWatched)
    for (const PassDef* pass : all.stage(stage)) {
      std::shared_ptr<WatchedPass>& own = watched[pass];
      if (own == nullptr)
        own = std::make_shared<WatchedPass>(*pass, [state = state_, stage](const PassDef& def, Model& model) {
          // One that needs a newer opset than the model's does not run.
          const std::vector<const PassDef*> running = state->all().stage(stage, model.opset());
          return std::find(running.begin(), running.end(), &def) != running.end() && state->run(def, model);
        });
    }
  // One that is in a watched stage, too, is watched everywhere: a name stands for one pass.
  for (const PassDef* pass : all.stage(PassStage::kLowering)) {
    const auto it = watched.find(pass);
    set->add(it == watched.end() ? *pass : it->second->def(), PassStage::kLowering, 0, state_);
  }
  for (const PassStage stage : kWatched)
    for (const PassDef* pass : all.stage(stage)) set->add(watched[pass]->def(), stage, 0, watched[pass]);
  set_ = std::move(set);
}

const std::vector<WatchedEdit>& PassWatch::edits() const { return state_->edits; }

}  // namespace assay::debug
