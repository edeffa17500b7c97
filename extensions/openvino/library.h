// Finding, loading and calling OpenVINO.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api.h"

namespace ov {

/// A loaded library, which stays loaded: its threads may outlive us.
class Library {
 public:
  /// Throws assay::ext::Error that says why the file cannot be used.
  explicit Library(const std::string& path);

#define ASSAY_OPENVINO_POINTER(result, name, parameters) result(*name) parameters = nullptr;
  ASSAY_OPENVINO_FUNCTIONS(ASSAY_OPENVINO_POINTER)
#undef ASSAY_OPENVINO_POINTER
  ReadModelFromMemory ov_core_read_model_from_memory_buffer = nullptr;  ///< null: it is too old for it

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }
  Core* core() const { return core_.get(); }

  /// Throws assay::ext::Error with the library's own message when `status` is no success.
  void check(Status status, const std::string& doing) const;
  /// ONNX's number of an element type; 0 for one that has no counterpart in the module's interface.
  int32_t onnx_type(ElementType type) const;
  /// Throws assay::ext::Error for a type that this library does not have.
  ElementType element_type(int32_t onnx_type) const;

 private:
  void find_functions(void* handle);
  void read_version();
  void measure_element_types();

  std::string path_, version_;
  std::map<int32_t, ElementType> types_;  // by ONNX's numbers
  std::shared_ptr<Core> core_;
};

/// Where the library is looked for, best first. `given`: what the user named (a library, a folder with one,
/// or a Python environment), nothing else is tried then; empty: ASSAY_OPENVINO, or the usual places. Files in
/// the current folder are never among them unless they were named.
std::vector<std::string> candidates(const std::string& given);

/// The libraries that were loaded, by what was given.
class Libraries {
 public:
  /// Throws assay::ext::Error, which says what was tried and how to get it.
  std::shared_ptr<const Library> load(const std::string& given);
  /// The value of --openvino-library; known before the runner is asked whether it can be used.
  void set_given(const std::string& path);
  std::string given() const;

 private:
  mutable std::mutex mutex_;
  std::string given_;
  std::map<std::string, std::shared_ptr<const Library>> loaded_;
};

/// A thing of the library's that is freed with its pointer.
template <typename T>
std::shared_ptr<T> owned(T* raw, void (*free)(T*)) {
  return std::shared_ptr<T>(raw, free);
}

}  // namespace ov
