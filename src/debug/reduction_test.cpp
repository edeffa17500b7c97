#include "debug/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "assay/error.h"
#include "assay/io.h"
#include "base/temporary_folder.h"
#include "ops/infer.h"

namespace assay::debug::reduction_test {
namespace {

using Names = std::vector<std::string>;

/// A chain n0 ... n9 of Neg from x to y, with weights, and a second branch b0 ... b4 from n2 that n7 adds to
/// it.
std::shared_ptr<Model> branchy_model() {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type floats = Type::tensor(DType::kFloat32, Shape({4, 3}));
  Value* at = g.add_input("x", floats);
  Value* branch = nullptr;
  for (int i = 0; i < 10; ++i) {
    Value* next = g.add_value("v" + std::to_string(i), floats);
    if (i == 7)
      g.add_node("Add", {at, branch}, {next}, {}, "n7");
    else
      g.add_node("Neg", {at}, {next}, {}, "n" + std::to_string(i));
    at = next;
    if (i != 2) continue;
    branch = at;
    for (int k = 0; k < 5; ++k) {
      Value* beside = g.add_value("w" + std::to_string(k), floats);
      g.add_node("Abs", {branch}, {beside}, {}, "b" + std::to_string(k));
      branch = beside;
    }
  }
  g.outputs = {at};
  return m;
}

Names node_names(const Graph& g) {
  Names names;
  for (const auto& n : g.nodes()) names.push_back(n->name);
  return names;
}

/// Reads the candidate back, and asks `fails` about it.
class ModelCheck final : public Check {
 public:
  explicit ModelCheck(std::function<std::string(const Model&)> failure_of)
      : failure_of_(std::move(failure_of)) {}
  Answer check(const std::string& candidate, SearchObserver&) override {
    ++asked;
    const auto model = load_model(candidate);
    infer_shapes(*model);  // it is a model that can be
    const std::string failure = failure_of_(*model);
    if (failure.empty()) return {};
    if (wanted_.empty()) wanted_ = failure;
    return {.kind = failure == wanted_ ? AnswerKind::kFailure : AnswerKind::kOtherFailure,
            .failure = failure};
  }
  std::string failure() const override { return wanted_; }
  void look_for(const std::string& failure) override { wanted_ = failure; }
  int asked = 0;

 private:
  std::function<std::string(const Model&)> failure_of_;
  std::string wanted_;
};

std::function<std::string(const Model&)> needs(Names names) {
  return [names](const Model& m) {
    const Names there = node_names(*m.graph);
    const bool all = std::all_of(names.begin(), names.end(), [&](const auto& n) {
      return std::find(there.begin(), there.end(), n) != there.end();
    });
    return all ? std::string("it fails") : std::string();
  };
}

struct Search {
  TemporaryFolder folder;
  ReductionOptions options;
  ReductionObserver observer;
  size_t checks = 0;

  Search() {
    options.candidate = folder / "candidate.onnx";
    options.save = [](const Model& m, const std::string& path) { save_model(m, path); };
  }
  Reduction run(const std::shared_ptr<Model>& model, Check& check, Journal* journal = nullptr) {
    Iterations iterations({.candidate = options.candidate, .removes_candidate = true, .save_replay = replay},
                          check, observer);
    if (journal != nullptr) iterations.use(*journal);
    Reduction result = reduce(model, options, iterations, observer);
    checks = iterations.checks();
    return result;
  }
  std::string replay;
};

TEST(Reduction, OneNodeIsFound) {
  const auto model = branchy_model();
  for (const auto& n : model->graph->nodes()) {
    ModelCheck check(needs({n->name}));
    Search search;
    const Reduction result = search.run(model, check);
    EXPECT_EQ(node_names(*result.bad->graph), Names{n->name});
    EXPECT_FALSE(result.is_flaky);
    EXPECT_LE(search.checks, 20U) << n->name;
    EXPECT_FALSE(std::ifstream(search.options.candidate).is_open()) << "the intermediate model is left";
    // The batch and the rest of the extents that the failure does not need are gone, too.
    EXPECT_EQ(result.bad->graph->inputs[0]->type.str(), "float32[1, 1]");
  }
}

TEST(Reduction, NodesThatFailTogetherStayTogether) {
  const auto model = branchy_model();
  for (const Names& pair : {Names{"n1", "b3"}, Names{"n7", "n8"}, Names{"n0", "n9"}}) {
    ModelCheck check(needs(pair));
    Names found = node_names(*Search().run(model, check).bad->graph);
    std::sort(found.begin(), found.end());
    Names wanted = pair;
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(found, wanted);
  }
}

TEST(Reduction, AnotherFailureIsNotFollowed) {
  // Without n3 the model fails, too, but otherwise.
  const auto failure = [](const Model& m) {
    const Names there = node_names(*m.graph);
    const auto has = [&](const char* n) { return std::find(there.begin(), there.end(), n) != there.end(); };
    if (!has("n3") && there.size() < 6) return std::string("there is no n3");
    return has("n5") ? std::string("n5") : std::string();
  };
  ModelCheck check(failure);
  const Reduction result = Search().run(branchy_model(), check);
  EXPECT_EQ(result.failure, "n5");
  EXPECT_EQ(failure(*result.bad), "n5");
}

TEST(Reduction, AModelThatPassesHasNothingToReduce) {
  ModelCheck check([](const Model&) { return std::string(); });
  Search search;
  EXPECT_THROW(search.run(branchy_model(), check), Error);
  EXPECT_EQ(check.asked, 1);
}

TEST(Reduction, TheBodyOfALoopIsReducedAsAModel) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type floats = Type::tensor(DType::kFloat32, Shape({2})), truth = Type::tensor(DType::kBool, Shape()),
             count = Type::tensor(DType::kInt64, Shape());
  Value* x = g.add_input("x", floats);
  Value* trips = g.add_constant("trips", Tensor::scalar<int64_t>(3));
  Value *a = g.add_value("a", floats), *y = g.add_value("y", floats), *z = g.add_value("z", floats);
  g.add_node("Neg", {x}, {a}, {}, "before");
  auto body = std::make_shared<Graph>();
  body->set_parent(&g);
  Value *i = body->add_input("i", count), *c = body->add_input("c", truth), *s = body->add_input("s", floats);
  Value *p = body->add_value("p", floats), *q = body->add_value("q", floats),
        *go = body->add_value("go", truth);
  (void)i;
  body->add_node("Identity", {c}, {go}, {}, "goes_on");
  body->add_node("Abs", {s}, {p}, {}, "inner");
  body->add_node("Add", {p, a}, {q}, {}, "sum");
  body->outputs = {go, q};
  g.add_node("Loop", {trips, nullptr, x}, {y}, {{"body", body}}, "loop");
  g.add_node("Neg", {y}, {z}, {}, "after");
  g.outputs = {z};
  // It fails wherever there is an Abs.
  const std::function<bool(const Graph&)> has_abs = [&](const Graph& graph) {
    return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& n) {
      const Attribute* inner = n->find_attribute("body");
      return n->op_type == "Abs" ||
             (inner != nullptr && has_abs(**inner->template get_if<std::shared_ptr<Graph>>()));
    });
  };
  ModelCheck check(
      [&](const Model& model) { return has_abs(*model.graph) ? std::string("Abs") : std::string(); });
  EXPECT_EQ(node_names(*Search().run(m, check).bad->graph), Names{"inner"});
}

TEST(Reduction, PolygraphysModesEndWhereItsOwnDo) {
  for (const ReductionMode mode : {ReductionMode::kBisect, ReductionMode::kLinear})
    for (const char* name : {"n0", "n1", "n5", "n9"}) {
      ModelCheck check(needs({name}));
      Search search;
      search.options.mode = mode;
      // Branches that are left out become constants.
      search.options.evaluate = [](const std::shared_ptr<Model>& model, const auto& observer) {
        for (const auto& v : model->graph->values())
          observer(v->name(), Tensor::from(Shape({4, 3}), std::vector<float>(12, 1.0F)));
      };
      const Names found = node_names(*search.run(branchy_model(), check).bad->graph);
      EXPECT_NE(std::find(found.begin(), found.end(), name), found.end());
      EXPECT_LE(found.size(), mode == ReductionMode::kLinear ? 1U : 4U) << name;
    }
}

TEST(Reduction, AReplayAnswersInPlaceOfTheCheck) {
  const TemporaryFolder folder;
  Search first;
  first.options.mode = ReductionMode::kLinear;
  first.replay = folder / "replay.json";
  ModelCheck check(needs({"n1"}));
  const Reduction result = first.run(branchy_model(), check);
  const int asked = check.asked;
  Search second;
  second.options.mode = ReductionMode::kLinear;
  Iterations iterations({.candidate = second.options.candidate, .load_replay = first.replay}, check,
                        second.observer);
  const Reduction again = reduce(branchy_model(), second.options, iterations, second.observer);
  EXPECT_EQ(check.asked, asked);
  EXPECT_EQ(serialize_model(*result.bad), serialize_model(*again.bad));
}

TEST(Reduction, NamesAndWeightsThatTheFailureDoesNotNeedAreReplaced) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  m->producer_name = "secret";
  m->metadata = {{"owner", "secret"}};
  Graph& g = *m->graph;
  g.name = "secret";
  const Type floats = Type::tensor(DType::kFloat32, Dims{Dim::symbol("secret"), Dim(4)});
  Value* x = g.add_input("secret_x", floats);
  Value* harmless = g.add_constant("secret_a", Tensor::vector<float>({1, 2, 3, 4}));
  Value* guilty = g.add_constant("secret_b", Tensor::vector<float>({1, 1e30F, 3, 4}));
  Value *p = g.add_value("secret_p", floats), *y = g.add_value("secret_y", floats);
  g.add_node("Mul", {x, harmless}, {p}, {}, "secret_mul");
  g.add_node("Add", {p, guilty}, {y}, {}, "secret_add");
  g.outputs = {y};
  const auto has_both = [](const Model& model) {
    const bool has_mul = std::any_of(model.graph->nodes().begin(), model.graph->nodes().end(),
                                     [](const auto& n) { return n->op_type == "Mul"; });
    const bool is_large =
        std::any_of(model.graph->values().begin(), model.graph->values().end(), [](const auto& v) {
          return v->is_constant() && v->tensor().aligned().template span<float>()[1] == 1e30F;
        });
    return has_mul && is_large ? std::string("it overflows") : std::string();
  };
  ModelCheck check(has_both);
  Search search;
  search.options.anonymises = true;
  const Reduction result = search.run(m, check);
  EXPECT_FALSE(result.has_own_names);
  EXPECT_EQ(result.own_weights, 1U);
  EXPECT_EQ(result.bad->graph->nodes().size(), 2U);
  const std::string bytes = serialize_model(*result.bad);
  EXPECT_EQ(bytes.find("secret"), std::string::npos);
  const float numbers[] = {1, 2, 3, 4};
  EXPECT_EQ(bytes.find(std::string(reinterpret_cast<const char*>(numbers), sizeof numbers)),
            std::string::npos);
  EXPECT_EQ(has_both(*result.bad), "it overflows");
}

TEST(Reduction, DataFilesOfCandidatesGoWithThem) {
  for (const bool was_there : {false, true}) {
    Search search;
    const std::string data = search.options.candidate + ".data";
    if (was_there) std::ofstream(data) << "somebody's";
    search.options.save = [&](const Model& m, const std::string& path) {
      save_model(m, path);
      if (!was_there) std::ofstream(data) << "weights";
    };
    ModelCheck check(needs({"n4"}));
    search.run(branchy_model(), check);
    EXPECT_FALSE(std::filesystem::exists(search.options.candidate));
    EXPECT_EQ(std::filesystem::exists(data), was_there);
  }
}

TEST(Reduction, ACandidateOfAKilledSearchIsReplacedAndAnotherFileIsNot) {
  Search search;
  std::ofstream(search.options.candidate) << "left";
  ModelCheck check(needs({"n4"}));
  IterationOptions options{.candidate = search.options.candidate};
  EXPECT_THROW(Iterations(options, check, search.observer), Error);
  options.replaces_candidate = true;
  Iterations iterations(options, check, search.observer);
  const Reduction result = reduce(branchy_model(), search.options, iterations, search.observer);
  EXPECT_EQ(node_names(*result.bad->graph), Names{"n4"});
}

TEST(Reduction, AttributesThatAreNotNeededGo) {
  auto m = std::make_shared<Model>();
  m->opsets = {{"", 17}};
  Graph& g = *m->graph;
  const Type floats = Type::tensor(DType::kFloat32, Shape({1, 1, 8, 8}));
  Value *x = g.add_input("x", floats), *y = g.add_value("y", {});
  Node& n = *g.add_node("LpPool", {x}, {y}, {}, "pool");
  n.set_attribute("kernel_shape", std::vector<int64_t>{2, 2});
  n.set_attribute("p", int64_t{3});
  n.set_attribute("strides", std::vector<int64_t>{2, 2});
  g.outputs = {y};
  infer_shapes(*m);
  ModelCheck check(needs({"pool"}));
  Search search;
  Journal journal = Journal::begin(search.folder / "journal", {{"model", "m"}});
  const Reduction result = search.run(m, check, &journal);
  // Without its kernel's shape it is no pooling; of the others none is needed.
  ASSERT_EQ(result.bad->graph->nodes()[0]->attributes.size(), 1U);
  EXPECT_EQ(result.bad->graph->nodes()[0]->attributes[0].name, "kernel_shape");
}

/// Ends the search at a check.
struct Killed {};

TEST(Reduction, AnInterruptedSearchGoesOnAndAsksNothingTwice) {
  const auto model = branchy_model();
  const SearchIdentity identity = {{"model", "m"}};
  std::set<std::string> asked;
  int whole = 0;
  {
    ModelCheck check(needs({"n1", "b3"}));
    Search search;
    const std::string path = search.folder / "journal";
    Journal journal = Journal::begin(path, identity);
    search.run(model, check, &journal);
    whole = check.asked;
  }
  for (int stop = 1; stop < whole; ++stop) {
    Search search;
    const std::string path = search.folder / "journal";
    int count = 0;
    {
      ModelCheck check([&](const Model& m) {
        if (count == stop) throw Killed();
        ++count;
        return needs({"n1", "b3"})(m);
      });
      Journal journal = Journal::begin(path, identity);
      EXPECT_THROW(search.run(model, check, &journal), Killed);
    }
    ModelCheck check(needs({"n1", "b3"}));
    Journal journal = Journal::resume(path, identity);
    check.look_for(journal.failure());
    const Reduction result = search.run(model, check, &journal);
    EXPECT_EQ(node_names(*result.bad->graph).size(), 2U);
    EXPECT_EQ(check.asked, whole - stop) << "a check was done twice";
  }
}

}  // namespace
}  // namespace assay::debug::reduction_test
