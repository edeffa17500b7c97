#include "script/embedded.h"

namespace assay::script {
namespace {

#include "script/embedded.inc"

}  // namespace

std::string_view python_archive() {
  return {reinterpret_cast<const char*>(kPythonArchive), sizeof kPythonArchive};
}

std::string_view script_header() {
  return {reinterpret_cast<const char*>(kScriptHeader), sizeof kScriptHeader};
}

}  // namespace assay::script
