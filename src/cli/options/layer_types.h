// Options for the types of individual layers, as in both of upstream's tools.
#pragma once

#include "assay/builder.h"
#include "cli/args.h"
#include "transform/io_types.h"

namespace assay::cli {

/// --precision-constraints, --layer-precisions and --layer-output-types; `as_bench`: also in trtexec's
/// spelling, separated by commas.
std::vector<Option> layer_type_options(bool as_bench);

/// Under upstream's names constraints default to `none`, and a selector that matches no layer is a warning;
/// under the program's own name they default to `obey`, and it is an error. `as_bench` as above. Logs and
/// throws Error for an unknown type.
void read_layer_types(const ParsedArgs& args, bool as_upstream, bool as_bench, BuilderConfig& config);

/// The types of --tensor-dtypes and --all-tensor-dtypes, which add_engine_building_options() declares.
std::vector<IoType> read_io_types(const ParsedArgs& args);

/// --strongly-typed: only the network's own types are used, so options that allow the builder other types
/// contradict it: an error, or under upstream's names a warning, and they are ignored.
void apply_strong_types(const ParsedArgs& args, const char* option, bool as_upstream, BuilderConfig& config);

}  // namespace assay::cli
