// Sequences and optionals as inputs and outputs of the engine and the reference.
#include <gtest/gtest.h>

#include "assay/backend.h"
#include "assay/backend_set.h"
#include "ops/infer.h"
#include "ops/value_type.h"

namespace assay::container_test {
namespace {

const Tensor kA = Tensor::vector<float>({1, -2}), kB = Tensor::vector<float>({-3});

class ContainerBackends : public testing::TestWithParam<const char*> {
 protected:
  /// Opens a session on the model that the test built.
  std::unique_ptr<Session> open() {
    model_->opsets = {{"", 18}};
    infer_shapes(*model_);
    return built_in_backends().get(GetParam()).open({model_, ""}, {});
  }
  Graph& graph() { return *model_->graph; }
  static std::vector<Tensor> run(Session& session, const std::vector<Tensor>& feed) {
    std::vector<Tensor> results(session.outputs().size());
    session.run(feed, [&](size_t i, Tensor t) { results[i] = std::move(t); });
    return results;
  }

 private:
  std::shared_ptr<Model> model_ = std::make_shared<Model>();
};

TEST_P(ContainerBackends, PassSequencesThrough) {
  Value* s = graph().add_input("s", sequence_of(Type::tensor(DType::kFloat32)));
  Value* x = graph().add_input("x", Type::tensor(DType::kFloat32, Dims{Dim::symbol("n")}));
  Value *y = graph().add_value("y"), *last = graph().add_value("last"), *n = graph().add_value("n");
  Value *p = graph().add_constant("p", Tensor::scalar(int64_t{-1})), *picked = graph().add_value("picked");
  graph().add_node("SequenceInsert", {s, x}, {y});
  graph().add_node("SequenceAt", {y, p}, {picked});
  graph().add_node("Relu", {picked}, {last});
  graph().add_node("SequenceLength", {y}, {n});
  graph().outputs = {y, last, n, s};
  const auto session = open();
  // Sequences of several lengths, tensors of several shapes, in one session.
  for (const auto& elements : {std::vector<Tensor>{}, {kA}, {kA, kB, kA}})
    for (const Tensor& t : {kA, kB}) {
      const Tensor in = Tensor::sequence(elements);
      const std::vector<Tensor> out = run(*session, {in, t});
      ASSERT_EQ(out[0].numel(), in.numel() + 1);
      EXPECT_TRUE(out[0].elements().back().identical(t));
      EXPECT_EQ(out[1].shape(), t.shape());
      EXPECT_EQ(out[1].data<float>()[0], std::max(t.data<float>()[0], 0.0F));
      EXPECT_EQ(out[2].item<int64_t>(), in.numel() + 1);
      EXPECT_TRUE(out[3].identical(in));
    }
}

TEST_P(ContainerBackends, PassOptionalsThrough) {
  Value* o = graph().add_input("o", optional_of(Type::tensor(DType::kFloat32, Dims{Dim(2)})));
  Value *has = graph().add_value("has"), *same = graph().add_value("same"),
        *wrapped = graph().add_value("wrapped");
  graph().add_node("OptionalHasElement", {o}, {has});
  graph().add_node("Identity", {o}, {same});
  graph().add_node("Optional", {has}, {wrapped});
  graph().outputs = {has, same, wrapped};
  const auto session = open();
  for (const Tensor& in : {Tensor::optional({}), Tensor::optional(kA)}) {
    const std::vector<Tensor> out = run(*session, {in});
    EXPECT_EQ(out[0].item<bool>(), in.numel() == 1);
    EXPECT_TRUE(out[1].identical(in));
    EXPECT_TRUE(out[2].elements()[0].identical(out[0]));
  }
}

TEST_P(ContainerBackends, MakeConstantSequences) {
  Value *empty = graph().add_value("empty"), *made = graph().add_value("made"),
        *joined = graph().add_value("joined");
  Value *a = graph().add_constant("a", kA), *b = graph().add_constant("b", kB);
  graph().add_node("SequenceEmpty", {}, {empty});
  graph().add_node("SequenceConstruct", {a, b}, {made});
  graph().add_node("ConcatFromSequence", {made}, {joined}, {{"axis", int64_t{0}}});
  graph().outputs = {empty, made, joined};
  const auto session = open();
  const std::vector<Tensor> out = run(*session, {});
  EXPECT_TRUE(out[0].identical(Tensor::sequence({})));
  EXPECT_TRUE(out[1].identical(Tensor::sequence({kA, kB})));
  EXPECT_TRUE(out[2].identical(Tensor::vector<float>({1, -2, -3})));
}

TEST_P(ContainerBackends, SayWhatIsWrong) {
  Value* s = graph().add_input("s", sequence_of(Type::tensor(DType::kFloat32)));
  Value* y = graph().add_value("y");
  graph().add_node("SequenceErase", {s}, {y}, {}, "erase");
  graph().outputs = {y};
  const auto session = open();
  try {
    run(*session, {Tensor::sequence({})});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("an empty sequence has nothing to erase"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("erase"), std::string::npos) << e.what();
  }
}

TEST_P(ContainerBackends, RefuseASequenceForATensor) {
  Value* x = graph().add_input("x", Type::tensor(DType::kFloat32, Dims{Dim(2)}));
  Value* y = graph().add_value("y");
  graph().add_node("Relu", {x}, {y}, {}, "relu");
  graph().outputs = {y};
  const auto session = open();
  EXPECT_THROW(run(*session, {Tensor::sequence({kA})}), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, ContainerBackends, testing::Values("reference", "engine"));

}  // namespace
}  // namespace assay::container_test
