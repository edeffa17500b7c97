// Options for the types of single layers, as both of upstream's tools have them.
#pragma once

#include "assay/builder.h"
#include "cli/args.h"
#include "transform/io_types.h"

namespace assay::cli {

/// --precision-constraints, --layer-precisions and --layer-output-types; `as_bench`: also in trtexec's
/// spelling, with commas between what is given.
std::vector<Option> layer_type_options(bool as_bench);

/// Under upstream's names constraints are `none` unless they are given, and what fits no layer is a warning;
/// under our own they are `obey`, and it is an error. `as_bench` as above. Logs and throws Error for what is
/// no type.
void read_layer_types(const ParsedArgs& args, bool as_upstream, bool as_bench, BuilderConfig& config);

/// What --tensor-dtypes and --all-tensor-dtypes say, which add_engine_building_options() declares.
std::vector<IoType> read_io_types(const ParsedArgs& args);

/// --strongly-typed: types are the network's own, so that types which the builder may use contradict it: an
/// error, or under upstream's names a warning, and they are not used.
void apply_strong_types(const ParsedArgs& args, const char* option, bool as_upstream, BuilderConfig& config);

}  // namespace assay::cli
