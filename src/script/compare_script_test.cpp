#include "script/compare_script.h"

#include <cmath>

#include "script/script_test_util.h"

namespace assay::script::compare_script_test {
namespace {

class CompareScriptTest : public testing::Test {
 protected:
  void SetUp() override { ASSAY_NEEDS_PYTHON(); }

  std::vector<ScriptVerdict> compare(const std::string& text, const Tensor& a = Tensor::vector<float>({1, 2}),
                                     const Tensor& b = Tensor::vector<float>({1, 2.5})) {
    CompareScript script(scripts_.add("compare.py", with_numpy(text), CompareScript::kDefaultFunction),
                         test_interpreter());
    return script.compare({"first", 0.5, {{"y", a}}}, {"second", {}, {{"y", b}}});
  }

  Scripts scripts_;
};

TEST_F(CompareScriptTest, VerdictsAndFigures) {
  const auto verdicts = compare(R"(
class Result:
    def __init__(self, passed, error):
        self.passed, self.error, self.label, self.steps, self._hidden = passed, error, "text", 3, 4
    def __bool__(self):
        return self.passed
def compare_outputs(a, b):
    assert (a.runner_name, a.runtime, b.runner_name, b.runtime) == ("first", 0.5, "second", None)
    error = np.abs(a["y"] - b["y"]).max()
    return {"y": Result(False, error), "z": True, "w": np.bool_(False), "nan": Result(True, float("nan"))}
)");
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_EQ(verdicts[0].output, "y");
  EXPECT_FALSE(verdicts[0].passed);
  EXPECT_EQ(verdicts[0].figures, (std::vector<std::pair<std::string, double>>{{"error", 0.5}, {"steps", 3}}));
  EXPECT_TRUE(verdicts[1].passed);
  EXPECT_TRUE(verdicts[1].figures.empty());
  EXPECT_FALSE(verdicts[2].passed);
  EXPECT_TRUE(std::isnan(verdicts[3].figures.at(0).second));
}

TEST_F(CompareScriptTest, ComparisonsOfPolygraphy) {
  const std::string has = "'" + test_interpreter() + "' -c 'import polygraphy' 2> /dev/null";
  if (std::system(has.c_str()) != 0) GTEST_SKIP() << "skipped: no Python package polygraphy";
  const auto verdicts = compare(R"(
from polygraphy.comparator import CompareFunc
def compare_outputs(a, b):
    return CompareFunc.simple(atol=0.6)(a, b)
)");
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(verdicts[0].output, "y");
  EXPECT_TRUE(verdicts[0].passed);
  const auto& figures = verdicts[0].figures;
  const auto found =
      std::find_if(figures.begin(), figures.end(), [](const auto& f) { return f.first == "max_absdiff"; });
  ASSERT_NE(found, figures.end());
  EXPECT_EQ(found->second, 0.5);
}

TEST_F(CompareScriptTest, Errors) {
  const auto failure = [&](const std::string& text) { return error_of([&] { compare(text); }); };
  expect_contains(
      failure("def compare_outputs(a, b):\n    return True"),
      {"compare_outputs returned a bool", "dictionary", "{'output': True}", "at line 2", "compare.py"});
  expect_contains(failure("def compare_outputs(a, b):\n    return {5: True}"),
                  {"a verdict for 5", "strings"});
  expect_contains(failure("def compare_outputs(a, b):\n    return {'y': None}"), {"returned None for 'y'"});
  expect_contains(failure("def compare_outputs(a, b):\n    return {'y': a['y'] == b['y']}"),
                  {"for 'y'", "neither true nor false"});
  expect_contains(failure("def compare_outputs(a):\n    return {}"), {"TypeError", "compare_outputs()"});
}

}  // namespace
}  // namespace assay::script::compare_script_test
