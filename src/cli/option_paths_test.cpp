#include "cli/option_paths.h"

#include <gtest/gtest.h>

#include <functional>

#include "cli/registries.h"

namespace assay::cli::option_paths_test {
namespace {

void visit(const Command& command, const std::string& path, const Registries& registries,
           const std::function<void(const std::string& command, const Option& option)>& each) {
  ArgParser parser("assay " + path, "");
  command.add_options(parser, registries, command);
  if (command.run != nullptr)
    for (const OptionGroup* group : parser.groups())
      for (const Option& o : group->options) each(path, o);
  for (const Command* sub : command.subcommands)
    visit(*sub, path + " " + std::string(sub->name), registries, each);
}

bool names_a_path(const Option& o) {
  if (!o.refusal.empty() || o.names.front() == std::string_view("--verbosity"))
    return false;  // positions in the source
  for (const char* word : {"FILE", "DIR", "PATH", "FOLDER", "LIBRARY"})
    if (o.metavar.find(word) != std::string::npos) return true;
  return false;
}

/// A new option that names a file must be in the table, so that its file is checked before the work begins.
TEST(OptionPaths, EveryOptionThatNamesAPathIsInTheTable) {
  const Registries registries;
  size_t count = 0;
  for (const Command* command : registries.commands.all())
    visit(*command, std::string(command->name), registries, [&](const std::string& path, const Option& o) {
      if (!names_a_path(o)) return;
      ++count;
      EXPECT_NE(find_path_option(path, o.names.front()), nullptr) << path << " " << o.label();
    });
  EXPECT_GT(count, 80U);
}

/// The other way round: an entry of the table is an option of some command.
TEST(OptionPaths, EveryEntryIsAnOption) {
  const Registries registries;
  for (const PathOption& entry : path_options()) {
    bool is_known = entry.option == "--extension";
    for (const Command* command : registries.commands.all())
      visit(*command, std::string(command->name), registries, [&](const std::string& path, const Option& o) {
        is_known |= o.names.front() == entry.option && (entry.command.empty() || entry.command == path);
      });
    EXPECT_TRUE(is_known) << entry.command << " " << entry.option;
  }
}

TEST(OptionPaths, Endings) {
  EXPECT_EQ(content_of_ending("m.onnx"), Content::kModel);
  EXPECT_EQ(content_of_ending("a.b/m.onnxtxt"), Content::kModel);
  EXPECT_EQ(content_of_ending("m.engine"), Content::kPlan);
  for (const char* name : {"m", ".onnx", "m.onnx.bak", "m.pb", "m.ONNX", "folder.plan/m"})
    EXPECT_EQ(content_of_ending(name), Content::kAny) << name;
  EXPECT_EQ(endings_text(Content::kPlan), ".plan, .engine, .trt");
}

}  // namespace
}  // namespace assay::cli::option_paths_test
