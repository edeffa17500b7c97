#include "script/reference.h"

#include "script/script_test_util.h"

namespace assay::script::reference_test {
namespace {

TEST(ScriptReference, FileAndFunction) {
  Scripts scripts;
  const std::string py = scripts.add("data.py", "", "f").path;
  EXPECT_EQ(parse_reference(py, "load_data").function, "load_data");
  EXPECT_EQ(parse_reference(py + ":", "load_data").function, "load_data");
  EXPECT_EQ(parse_reference(py + ":other", "load_data").function, "other");
  EXPECT_EQ(parse_reference(py + ":other", "load_data").path, py);
}

TEST(ScriptReference, PathsMayHoldColons) {
  Scripts scripts;
  for (const char* name : {"a:b.py", "a:b", "run:1"}) std::ofstream(scripts.path(name)) << "";
  EXPECT_EQ(parse_reference(scripts.path("a:b.py"), "f").path, scripts.path("a:b.py"));
  const Reference r = parse_reference(scripts.path("a:b.py") + ":g", "f");
  EXPECT_EQ(r.path, scripts.path("a:b.py"));
  EXPECT_EQ(r.function, "g");
}

TEST(ScriptReference, LanguagesBySuffix) {
  Scripts scripts;
  EXPECT_EQ(scripts.add("a.py", "", "f").language, Language::kPython);
  for (const char* name : {"a.cpp", "a.cc", "a.cxx"})
    EXPECT_EQ(scripts.add(name, "", "f").language, Language::kSource);
  EXPECT_EQ(scripts.add("a.so", "", "f").language, Language::kLibrary);
}

TEST(ScriptReference, Errors) {
  Scripts scripts;
  expect_contains(error_of([&] { scripts.add("a.txt", "", "f"); }),
                  {"a.txt", "suffix", ".py, .cpp (.cc, .cxx) or .so"});
  expect_contains(error_of([&] { parse_reference(":f", "g"); }), {"':f' names no script"});
  expect_contains(error_of([&] { parse_reference("", "g"); }), {"'' names no script"});
  expect_contains(error_of([&] { parse_reference(scripts.path("missing.py"), "g"); }),
                  {"missing.py", "No such file"});
  std::filesystem::create_directory(scripts.path("folder.py"));
  expect_contains(error_of([&] { parse_reference(scripts.path("folder.py"), "g"); }),
                  {"folder.py", "a folder"});
}

}  // namespace
}  // namespace assay::script::reference_test
