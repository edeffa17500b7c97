#include "debug/anonymous.h"

#include <gtest/gtest.h>

#include <fstream>

#include "assay/io.h"
#include "base/temporary_folder.h"

namespace assay::debug::anonymous_test {
namespace {

constexpr const char* kModel =
    R"(<ir_version: 10, opset_import: ["" : 17, "secret.functions" : 3, "secret.unused" : 1],
 producer_name: "secret", model_version: 3, doc_string: "secret", metadata_props: ["secret": "secret"]>
secret (float[secret_n, 4] secret_x, bool secret_c) => (float[secret_n, 4] secret_y)
<float[4] secret_w = {0.5, 1.25, 2.125, 3.0625}, int8[4] secret_q = {11, -22, 33, 44}, float[1] secret_s = {0.75}>
{
  [secret_call] secret_a = secret.functions.Secret <secret_alpha = 0.5> (secret_x)
  [secret_cast] secret_f = Cast <to = 1> (secret_q)
  [secret_mul] secret_m = Mul (secret_a, secret_w)
  [secret_sum] secret_k = Add (secret_m, secret_f)
  [secret_if] secret_y = If (secret_c) <
    then_branch = secret_then () => (float[secret_n, 4] secret_t) {
      secret_v = Constant <value = float[4] {7.5, 8.25, 9.125, 10.0625}> ()
      [secret_body] secret_t = Add (secret_k, secret_v)
    },
    else_branch = secret_else () => (float[secret_n, 4] secret_e) {
      [secret_other] secret_e = Mul (secret_k, secret_s)
    }>
}
<domain: "secret.functions", opset_import: ["" : 17], doc_string: "secret">
Secret <secret_alpha> (secret_i) => (secret_o) {
  secret_p = LeakyRelu <alpha : float = @secret_alpha> (secret_i)
  secret_z = Constant <value_floats = [4.5, 5.25, 6.125, 3.5]> ()
  secret_o = Add (secret_p, secret_z)
}
)";

std::shared_ptr<Model> model() {
  const TemporaryFolder folder;
  const std::string path = folder / "secret.onnxtxt";
  std::ofstream(path) << kModel;
  return load_model(path);
}

template <typename T>
bool holds(const std::string& bytes, const std::vector<T>& values) {
  return bytes.find(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T))) !=
         std::string::npos;
}

/// Floats of an attribute are fields of their own.
bool holds_list(const std::string& bytes, const std::vector<float>& values) {
  std::string fields;
  for (const float v : values) fields += '\x3d' + std::string(reinterpret_cast<const char*>(&v), sizeof v);
  return bytes.find(fields) != std::string::npos;
}

/// How many of the four weights.
int own_weights(const std::string& bytes) {
  return static_cast<int>(holds<float>(bytes, {0.5F, 1.25F, 2.125F, 3.0625F})) +
         static_cast<int>(holds<int8_t>(bytes, {11, -22, 33, 44})) +
         static_cast<int>(holds<float>(bytes, {7.5F, 8.25F, 9.125F, 10.0625F})) +
         static_cast<int>(holds_list(bytes, {4.5F, 5.25F, 6.125F, 3.5F}));
}

TEST(Anonymous, NoNameIsLeftInBodiesFunctionsImportsAndDescriptions) {
  const auto m = model();
  ASSERT_NE(serialize_model(*m).find("secret"), std::string::npos);
  remove_names(*m);
  const std::string bytes = serialize_model(*m);
  EXPECT_EQ(bytes.find("ecret"), std::string::npos) << bytes;
  EXPECT_EQ(own_weights(bytes), 4);
  ASSERT_EQ(m->functions.size(), 1U);
  EXPECT_EQ(m->functions[0].attribute_names, std::vector<std::string>{"attribute_0"});
  // It is still a model, whose call finds its function.
  const TemporaryFolder folder;
  save_model(*m, folder / "model.onnx");
  const auto again = load_model(folder / "model.onnx");
  const Node& call = *again->graph->nodes()[0];
  EXPECT_NE(again->find_function(call.domain, call.op_type, call.overload), nullptr);
  EXPECT_NE(call.find_attribute("attribute_0"), nullptr);
}

TEST(Anonymous, WeightsOfBodiesFunctionsAndAttributesAreReplaced) {
  const auto m = model();
  // In the function, the main graph and the body.
  ASSERT_EQ(count_weights(*m), 4U);
  ASSERT_EQ(own_weights(serialize_model(*m)), 4);
  replace_weights(*m, std::vector<size_t>{});
  const std::string bytes = serialize_model(*m);
  EXPECT_EQ(own_weights(bytes), 0);
  EXPECT_TRUE(holds<float>(bytes, {0.75F})) << "a scalar is no weight";
}

TEST(Anonymous, KeptWeightsStay) {
  for (size_t kept = 0; kept < 4; ++kept) {
    const auto m = model();
    replace_weights(*m, std::vector<size_t>{kept});
    EXPECT_EQ(own_weights(serialize_model(*m)), 1) << kept;
    EXPECT_EQ(count_weights(*m), 4U);
  }
}

}  // namespace
}  // namespace assay::debug::anonymous_test
