#include "cli/gen_script/failure_programs.h"

#include <fmt/format.h>

#include "base/python_repr.h"
#include "cli/gen_script/build_command.h"
#include "cli/gen_script/cpp_literal.h"
#include "cli/script_text.h"

namespace assay::cli {

std::string failure_program_cpp(const FailureProgram& program, const std::string& file) {
  std::string runners;
  for (const std::string& backend : program.backends)
    runners += fmt::format("{}{{.backend = {}}}", runners.empty() ? "" : ", ", cpp_string(backend));
  return fmt::format(
      "// Shows: {}\n"
      "// Found by {}\n"
      "// Run it in the folder of its files.\n"
      "{}"
      "#include <assay/run.h>\n"
      "\n"
      "using namespace assay;\n"
      "using namespace assay::poly;\n"
      "\n"
      "static void describe(RunSettings& run) {{\n"
      "  run.model.path = {};\n"
      "  run.runners = {{{}}};\n"
      "  run.data.load_inputs = {{{}}};\n"
      "}}\n"
      "\n"
      "int main(int argc, char** argv) {{ return run_main(argc, argv, describe); }}\n",
      in_one_line(program.failure), in_one_line(program.command), build_command(file),
      cpp_string(program.model), runners, cpp_string(program.inputs));
}

std::string failure_program_python(const FailureProgram& program) {
  return fmt::format(
      "#!/usr/bin/env python3\n"
      "# Shows: {}\n"
      "# Found by {}\n"
      "import pathlib\n"
      "import sys\n"
      "\n"
      "import assay\n"
      "\n"
      "folder = pathlib.Path(__file__).resolve().parent\n"
      "summary = assay.run(folder / {}, {}, load_inputs=[folder / {}])\n"
      "print(summary)\n"
      "sys.exit(summary.exit_status)\n",
      in_one_line(program.failure), in_one_line(program.command), python_str_repr(program.model),
      python_list_repr(program.backends), python_str_repr(program.inputs));
}

}  // namespace assay::cli
