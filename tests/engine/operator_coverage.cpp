// operator_coverage: asks the engine how it runs every operator that assay knows, and keeps the answer in a
// table.
//
//   operator_coverage TABLE           compares the table in docs/reference/engine-operators.md with the
//                                     engine's answer
//   operator_coverage TABLE --write   puts it there
//
// Each operator's newest version is drawn as a valid node (tests/fuzz/valid) many times, and a plan is made
// for it: with its inputs known only when it runs, and with all but the first one constant, as weights are. A
// type counts as served when no step of the better of the two plans uses the reference.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "engine/specialize/plan_builder.h"
#include "fuzz/valid/recipes.h"
#include "ops/infer.h"
#include "ops/op_set.h"

namespace assay::fuzz {
namespace {

constexpr int kRounds = 48;
constexpr std::string_view kBegin = "<!-- operator_coverage writes from here on -->\n";

struct Served {
  std::set<std::string> tactics;  ///< with candidates for the regions of the plan
  bool plainly = false;
  std::string reason;
};

/// Of the first step that uses the reference: its nodes, and the other tactics' reasons.
std::string reason_of(const engine::Plan& plan, const engine::Step& step) {
  std::string text;
  for (const engine::Refusal& r : step.refusals)
    if (r.tactic != "view" && r.tactic != "network" && r.tactic != "control")
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", r.tactic, r.reason);
  if (text.empty()) text = "no other tactic serves it";
  if (step.networks.empty()) return text;
  const auto& model = plan.networks[static_cast<size_t>(step.networks[0])].model;
  if (model == nullptr || model->graph->nodes().size() != 1) return text;
  return fmt::format("{} ({})", model->graph->nodes().front()->op_type, text);
}

void look_at(const engine::Plan& plan, Served& out) {
  for (const engine::Step& step : plan.steps) {
    if (step.tactic == "evaluate") {
      if (!out.plainly) out.reason = reason_of(plan, step);
      out.plainly = true;
    } else if (step.tactic == "network") {
      out.tactics.insert("network");
    }
  }
  for (const engine::PlanNetwork& n : plan.networks)
    if (n.plan != nullptr) look_at(*n.plan, out);
}

Served plan_of(const Case& c, bool constant) {
  const std::shared_ptr<Model> model = c.model;
  Graph& g = *model->graph;
  std::vector<Tensor> feed = c.feed;
  if (constant && feed.size() > 1) {
    for (size_t i = feed.size(); i-- > 1;) {
      if (feed[i].is_container()) continue;
      g.inputs[i]->set_tensor(feed[i]);
      g.inputs.erase(g.inputs.begin() + static_cast<std::ptrdiff_t>(i));
      feed.erase(feed.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  infer_shapes(*model);
  std::vector<Shape> shapes;
  for (const Tensor& t : feed) shapes.push_back(t.shape());
  engine::BuildConfig config = engine::default_config(1);
  config.has_data = false;
  std::vector<size_t> value_inputs;
  engine::PlanBuilder builder(*model, config);
  Served served;
  look_at(*builder.build(shapes, feed, value_inputs), served);
  for (const engine::RegionReport& r : builder.reports())
    for (const auto& line : r.candidates) {
      const std::string tactic = line.candidate.substr(0, line.candidate.find(':'));
      if (tactic != "evaluate" && tactic != "view") served.tactics.insert(tactic);
    }
  return served;
}

/// Findings on an operator's nodes of one type.
struct Forms {
  int nodes = 0, plainly = 0;
  std::set<std::string> tactics;
  std::map<std::string, int> reasons;
};

std::string type_text(const Case& c) {
  const Tensor& t = c.feed[0];
  return t.is_container() ? "container" : std::string(dtype_name(t.dtype()));
}

std::map<std::string, Forms> forms_of(const OpDef& op) {
  std::map<std::string, Forms> out;
  const OpVersion& version = op.versions.back();
  for (int round = 0; round < kRounds; ++round) {
    uint64_t seed = 1000003 + static_cast<uint64_t>(round);
    for (const char letter : op.name) seed = seed * 1099511628211U + static_cast<unsigned char>(letter);
    std::vector<Served> plans;
    std::string type;
    for (const bool constant : {false, true}) {
      Random random(seed);
      const Case c = valid_case(op, version, random);
      if (c.feed.empty()) continue;
      type = type_text(c);
      if (std::any_of(c.feed.begin(), c.feed.end(),
                      [](const Tensor& t) { return !t.is_container() && t.numel() == 0; }))
        continue;
      try {
        plans.push_back(plan_of(c, constant));
      } catch (const Error&) {
        continue;  // drawn against a rule that the recipe does not know
      }
    }
    if (plans.empty()) continue;
    const Served& best = *std::min_element(
        plans.begin(), plans.end(), [](const Served& a, const Served& b) { return a.plainly < b.plainly; });
    Forms& forms = out[type];
    ++forms.nodes;
    forms.tactics.insert(best.tactics.begin(), best.tactics.end());
    if (best.plainly) ++forms.plainly, ++forms.reasons[best.reason];
  }
  return out;
}

std::string row_of(const OpDef& op, const std::map<std::string, Forms>& forms) {
  std::vector<std::string> served, partly, plainly;
  std::set<std::string> tactics;
  std::map<std::string, int> reasons;
  for (const auto& [type, f] : forms) {
    (f.plainly == 0 ? served : f.plainly < f.nodes ? partly : plainly).push_back(type);
    tactics.insert(f.tactics.begin(), f.tactics.end());
    for (const auto& [reason, count] : f.reasons) reasons[reason] += count;
  }
  std::string why;
  if (!reasons.empty())
    why = std::max_element(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
          })->first;
  std::replace(why.begin(), why.end(), '|', '/');
  return fmt::format("| {}{}{} | {} | {} | {} | {} | {} |\n", op.domain, op.domain.empty() ? "" : ".",
                     op.name, fmt::join(tactics, ", "), fmt::join(served, ", "), fmt::join(partly, ", "),
                     fmt::join(plainly, ", "), why);
}

std::string table() {
  std::string rows;
  int all = 0;
  for (const OpDef* op : built_in_ops().all()) {
    const std::map<std::string, Forms> forms = forms_of(*op);
    if (forms.empty()) continue;
    rows += row_of(*op, forms);
    ++all;
  }
  return fmt::format(
      "\n{} operators.\n\n| operator | tactics | served by kernels | in part | evaluated by the reference | "
      "why "
      "|\n|---|---|---|---|---|---|\n{}",
      all, rows);
}

int run(const std::string& path, bool writes) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t at = text.find(kBegin);
  require(at != std::string::npos, ErrorCode::kInvalidArgument, "{} has no line '{}'", path,
          kBegin.substr(0, kBegin.size() - 1));
  const std::string wanted = text.substr(0, at) + std::string(kBegin) + table();
  if (writes) {
    std::ofstream(path) << wanted;
    return 0;
  }
  if (text == wanted) return 0;
  for (size_t a = at, b = at; a < text.size() || b < wanted.size();) {
    const size_t a_end = std::min(text.find('\n', a), text.size()),
                 b_end = std::min(wanted.find('\n', b), wanted.size());
    const std::string was = text.substr(a, a_end - a), is = wanted.substr(b, b_end - b);
    if (was != is) {
      fmt::print("the table says  {}\nthe engine says {}\nrun `operator_coverage {} --write`\n", was, is,
                 path);
      return 1;
    }
    a = std::min(a_end + 1, text.size()), b = std::min(b_end + 1, wanted.size());
  }
  return 1;
}

}  // namespace
}  // namespace assay::fuzz

int main(int argc, char** argv) {
  try {
    if (argc < 2) {
      fmt::print("usage: operator_coverage TABLE [--write]\n");
      return 2;
    }
    return assay::fuzz::run(argv[1], argc > 2 && std::string(argv[2]) == "--write");
  } catch (const std::exception& e) {
    fmt::print("{}\n", e.what());
    return 2;
  }
}
