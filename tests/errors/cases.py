"""Bad input: a line per case. Add yours.

Each case is a command (after the program's name), the exit code, the stream that must carry the message, and the message:
all of it, so that a change of wording shows. `$DIR` stands for the folder where the command runs; fixtures.py says what
is in it. A message of several lines is given with its line breaks.
"""

OUT, ERR = "stdout", "stderr"

USAGE = [
    ("run identity.onnx --ref --no-such-option", 1, OUT, "[E] Unrecognized Options: ['--no-such-option']"),
    ("run identity.onnx --ref --fail-fst", 1, OUT, "[E] Unrecognized Options: ['--fail-fst']"),
    ("run identity.onnx --ref --fail-fst", 1, ERR, "assay: --fail-fst is no option; did you mean --fail-fast?"),
    ("run identity.onnx extra --ref more", 1, OUT, "[E] Unrecognized Options: ['extra', 'more']"),
    ("run identity.onnx --ref --onnx x", 2, ERR, "assay run: error: ambiguous option: --onnx could match --onnxrt, --onnxrt-library, --onnx-outputs, --onnx-exclude-outputs, --onnx-flags"),
    ("run identity.onnx --ref --seed x", 2, ERR, "assay run: error: argument --seed: invalid int value: 'x'"),
    ("run identity.onnx --ref --compare nope", 2, ERR, "assay run: error: argument --compare/--compare-func: invalid choice: 'nope' (choose from 'simple', 'indices')"),
    ("run identity.onnx --ref --rtol", 2, ERR, "assay run: error: argument --rtol/--rel-tol: expected at least one argument"),
    ("nope", 2, ERR, "assay: error: argument command: invalid choice: 'nope' (choose from 'run', 'check', 'surgeon', 'template')"),
    ("", 2, ERR, "assay: error: the following arguments are required: command"),
    ("template", 2, ERR, "assay template: error: the following arguments are required: command"),
]

REFUSED = [
    ("run identity.onnx --ref --fp16", 1, ERR, "[!] --fp16 is not available yet: the engine of this build computes in the types that the model declares."),
    ("run identity.onnx --pluginref", 1, ERR, "[!] --pluginref is not available yet: the plugin reference runner is replaced by --ref, which knows every operator of this build."),
    ("run identity.onnx --ref --gen-script x.py", 1, ERR, "[!] --gen/--gen-script is not available yet: this build runs no Python. Save inputs and outputs with --save-inputs and --save-outputs instead."),
    ("run identity.onnx --ref --save-engine x.plan", 1, ERR, "[!] --save-engine is not available yet: the engine of this build cannot save its plans."),
    ("run identity.onnx --ref --show-heatmaps", 1, ERR, "[!] --show-heatmaps is not available yet: this build opens no windows. Save the pictures with --save-heatmaps or --save-error-metrics-plot."),
    ("run identity.onnx --ref --data-loader-backend-module torch", 1, ERR, "[!] --data-loader-backend-module torch is not available yet: this build has NumPy's random generator. Save the inputs elsewhere and load them with --load-inputs."),
]

VALUES = [
    ("run identity.onnx --ref --input-shapes x:3", 1, ERR, "[!] --input-shapes: could not parse x:3. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes x:1x2", 1, ERR, "[!] --input-shapes: could not parse x:1x2. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes [1,2]", 1, ERR, "[!] --input-shapes: could not parse [1,2]. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes x:[1.5]", 1, ERR, "[!] --input-shapes: in x:[1.5], 1.5 is no extent; an extent is an integer, or a name."),
    ("run identity.onnx --ref --input-shapes x:[9,9]", 0, OUT, "[W] Input tensor: x [shape=BoundedShape([1, 2], min=None, max=None)] | Cannot use provided custom shape: BoundedShape([9, 9], min=None, max=None) to override tensor shape. Will use default shape instead."),
    ("run identity.onnx --ref --input-shapes z:[1]", 0, OUT, "[W] Input tensor: z | Metadata was provided, but the input does not exist in one or more runners."),
    ("run dynamic.onnx --ref", 0, OUT, "[W] Input tensor: x [shape=BoundedShape(['n', 2], min=None, max=None)] | Will generate data of shape: [1, 2].\n    If this is incorrect, please provide a custom data loader."),
    ("run identity.onnx --ref --val-range x:[0,1,2]", 1, ERR, "[!] In --val-range, for input: x, expected to receive exactly 2 values, but received 3.\n    Note: Option was parsed as: input: x, range: (0, 1, 2)"),
    ("run identity.onnx --ref --val-range 5", 1, ERR, "[!] --val-range: 5 is one number; a range needs two, as in [0,1]."),
    ("run cast.onnx --ref --val-range [5,2]", 1, ERR, "[!] the range [5, 2] of random integers is empty [for input 'i' of type int32]. Give --val-range a range that the type holds, the smaller bound first."),
    ("run identity.onnx --ref --seed -1", 1, ERR, "[!] --seed -1: a seed lies between 0 and 4294967295, counted up by one for each iteration"),
    ("run identity.onnx --ref --rtol y:abc", 1, ERR, "[!] --rtol: 'abc' is not a number (for output y)."),
    ("run identity.onnx --ref --check-error-stat foo", 1, ERR, "[!] Invalid choice for check_error_stat: foo.\n    Note: Valid choices are: ['max', 'mean', 'median', 'elemwise', 'quantile']"),
    ("run identity.onnx --ref --postprocess foo", 1, ERR, "[!] Invalid post-processing function: foo. Note: Valid choices are: ['top-<K>']."),
    ("run identity.onnx --ref --error-quantile 2", 1, ERR, "[!] --error-quantile: 2 is not between 0 and 1."),
    ("run identity.onnx --ref --verbosity loud", 1, ERR, "[!] 'loud' is no log level; the levels are ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE, INFO, START, FINISH, WARNING, ERROR, CRITICAL"),
    ("run identity.onnx --ref --external-data-size-threshold 16MB", 1, ERR, "[!] Could not convert 16MB to a number of bytes. Please use either an integer (e.g. 16000000), scientific notation (e.g. 16e6), or a number with a valid suffix: K, M, or G (e.g. 16M)."),
    ("run identity.onnx --ref --warm-up -1", 1, ERR, "[!] --warm-up: -1 is too small; it must be at least 0."),
    ("run identity.onnx --ref --threads 0", 1, ERR, "[!] --threads: 0 is too small; it must be at least 1."),
]

MODELS = [
    ("run --ref", 1, ERR, "[!] One or more runners was specified, but no model file was provided. Make sure you've specified the model path, and also that it's not being consumed as an argument for another parameter"),
    ("run --load-outputs other.json --arbiter", 1, ERR, "[!] --arbiter needs the model, to evaluate it in float64. Give its path before or between the options."),
    ("run nothing.onnx --ref", 1, OUT, "[W] Model path does not exist: nothing.onnx"),
    ("run nothing.onnx --ref", 1, ERR, "[!] cannot open nothing.onnx: No such file or directory"),
    ("run no_extension --ref", 1, ERR, "[!] Could not automatically determine model type for: $DIR/no_extension\n    Please explicitly specify the type with the --model-type option"),
    ("run model.engine --ref", 1, ERR, "[!] $DIR/model.engine is a model of type engine, and this build reads ONNX models only. Give the ONNX model that the engine was built from."),
    ("run empty.onnx --ref", 1, ERR, "[!] the file is empty [in $DIR/empty.onnx]"),
    ("run truncated.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 4: a length reaches beyond its end [in $DIR/truncated.onnx]"),
    ("run text.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in $DIR/text.onnx]"),
    ("run random.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in $DIR/random.onnx]"),
    ("run long_length.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 6: a length reaches beyond its end [in $DIR/long_length.onnx]"),
    ("run cycle.onnx --ref", 1, ERR, "[!] the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu) [in $DIR/cycle.onnx]"),
    ("run duplicate.onnx --ref", 1, ERR, "[!] the output 'y' of node 'n1' (Neg) is already the name of another node's output [in $DIR/duplicate.onnx]"),
    ("run dangling.onnx --ref", 1, ERR, "[!] the input 'nowhere' is not defined: no graph input, initializer or node output has that name [at node 'n0' (Relu)] [in $DIR/dangling.onnx]"),
    ("run unknown_op.onnx --ref", 1, ERR, "[!] the operator Frobnicate of domain 'ai.onnx' is unknown [at node 'n0' (Frobnicate)]"),
    ("run unknown_domain.onnx --ref", 1, ERR, "[!] the model does not import the domain 'com.nobody' of operator Relu [at node 'n0' (com.nobody::Relu)]"),
    ("run unknown_type.onnx --ref", 1, ERR, "[!] the element type 99 is unknown [in the type of 'x'] [in $DIR/unknown_type.onnx]"),
    ("run short_weight.onnx --ref", 1, ERR, "[!] it has 4 bytes of data, but float32 of shape (1, 2) needs 8 [in initializer 'w'] [in $DIR/short_weight.onnx]"),
    ("run external_missing.onnx --ref", 1, ERR, "[!] its external data file $DIR/gone.bin does not exist [in initializer 'w'] [in $DIR/external_missing.onnx]. Name the folder that holds it with --external-data-dir."),
    ("run external_short.onnx --ref", 1, ERR, "[!] its external data need bytes 0 to 8 of $DIR/short.bin, which has only 4 [in initializer 'w'] [in $DIR/external_short.onnx]"),
    ("run external_parent.onnx --ref", 1, ERR, "[!] its external data are at '../outside.bin', outside the model's folder [in initializer 'w'] [in $DIR/external_parent.onnx]"),
    ("run external_absolute.onnx --ref", 1, ERR, "[!] its external data are at the absolute path '/etc/hostname'; they must lie in the model's folder [in initializer 'w'] [in $DIR/external_absolute.onnx]"),
    ("run external_link.onnx --ref", 1, ERR, "[!] its external data 'link.bin' are a link to '/etc/hostname', outside the model's folder [in initializer 'w'] [in $DIR/external_link.onnx]"),
    ("run two.onnx --ref --onnx-outputs H nope", 1, ERR, "[!] The following outputs were not found in the model: {'H', 'nope'} [in $DIR/two.onnx]. Similar names are: ['h']."),
    ("run identity.onnx --ref --onnx-exclude-outputs nope", 1, ERR, "[!] The following outputs were not found in the model: {'nope'} [in $DIR/identity.onnx]"),
    ("run dynamic.onnx --ref --input-shapes x:[100000000000,2]", 1, ERR, "[!] a float64 tensor of shape (100000000000, 2) takes more than the $BYTES bytes that there are"),
]

DATA = [
    ("run identity.onnx --ref --load-inputs name.json", 0, OUT, "[W] Input tensor: x | Buffer name (z) does not match expected input name (x)."),
    ("run identity.onnx --ref --load-inputs type.json", 0, OUT, "[W] Input tensor: x | Buffer dtype (int64) does not match expected input dtype (float32), attempting to cast. "),
    ("run cast.onnx --ref --load-inputs range.json", 0, OUT, "[W] Some values in this input are out of range of int32. Unexpected behavior may ensue!"),
    ("run identity.onnx --ref --load-inputs shape.json", 0, OUT, "[W] Input tensor: x | Buffer shape ((2, 1)) does not match expected input shape (BoundedShape([1, 2], min=None, max=None)). Attempting to transpose/reshape. "),
    ("run identity.onnx --ref --load-inputs rank.json", 1, ERR, "[!] Input tensor: x | Cannot reuse input data due to mismatch in shape or data type.\n    Note: Cached input: [dtype=float32, shape=(3,)], Requested input: [dtype=float32, shape=BoundedShape([1, 2], min=None, max=None)]"),
    ("run identity.onnx --ref --load-inputs nan.json", 0, OUT, "[I] Loading input data from nan.json"),
    ("run identity.onnx --ref --load-inputs nan.json --validate", 1, OUT, "[E]         NaN Detected | One or more NaNs were encountered in this output"),
    ("run identity.onnx --ref --load-inputs inf.json --validate", 1, OUT, "[E]         Inf Detected | One or more non-finite values were encountered in this output"),
    ("run identity.onnx --ref --load-inputs gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("run identity.onnx --ref --load-inputs not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("run identity.onnx --ref --load-inputs other.json", 1, ERR, "[!] the value is a Python int, not an array [in input 'a'] [at iteration 0] [in other.json]"),
    ("run identity.onnx --ref --load-inputs empty_list.json", 0, OUT, "[W] Data loader did not yield any input data."),
    ("run identity.onnx --ref --load-inputs no_array.json", 1, ERR, "[!] base64 text has 3 characters, which is no multiple of 4 [in input 'x'] [at iteration 0] [in no_array.json]"),
    ("run identity.onnx --ref --load-outputs gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("run identity.onnx --ref --load-outputs not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("run identity.onnx --ref --save-outputs identity.onnx/out.json", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("run identity.onnx --ref --save-outputs folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("run identity.onnx --ref --save-outputs /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --save-inputs /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --save-onnx /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --log-file identity.onnx/log", 1, ERR, "[!] cannot write the log file identity.onnx/log: Not a directory"),
]

CONFORMANCE = [
    ("check", 2, ERR, "assay check: error: the following arguments are required: command"),
    ("check conformance", 2, ERR, "assay check conformance: error: the following arguments are required: folders"),
    ("check conformance folder --on nowhere", 2, ERR, "assay check conformance: error: argument --on: invalid choice: 'nowhere' (choose from 'inference', 'reference', 'reference-stored', 'engine', 'engine-unoptimized', 'onnxrt')"),
    ("check conformance folder --jobs 0", 1, ERR, "[!] --jobs: 0 is too small; it must be at least 1."),
    ("check conformance gone", 1, ERR, "[!] there is no folder 'gone'"),
    ("check conformance folder", 1, ERR, "[!] there is no test case (a folder with model.onnx) below 'folder'"),
    ("check conformance folder --expected gone.txt", 1, ERR, "[!] cannot open gone.txt: No such file or directory"),
    ("check conformance folder --expected empty_list.json", 1, ERR, "[!] empty_list.json: line 1 is not of the form `TARGET CASE: REASON`: []"),
]

CONVERSION = [
    ("surgeon", 2, ERR, "assay surgeon: error: the following arguments are required: command"),
    ("surgeon convert-opset identity.onnx", 2, ERR, "assay surgeon convert-opset: error: the following arguments are required: --to"),
    ("surgeon convert-opset identity.onnx --to x", 2, ERR, "assay surgeon convert-opset: error: argument --to: invalid int value: 'x'"),
    ("surgeon convert-opset identity.onnx --to 0", 1, ERR, "[!] 0 is no opset of ai.onnx: this build knows 1 to 28 [in identity.onnx]"),
    ("surgeon convert-opset identity.onnx --to 1000", 1, ERR, "[!] 1000 is no opset of ai.onnx: this build knows 1 to 28 [in identity.onnx]"),
    ("surgeon convert-opset identity.onnx --to 2 --domain ai.onnx.ml", 1, ERR, "[!] the model does not import the domain ai.onnx.ml [in identity.onnx]"),
    ("surgeon convert-opset identity.onnx --to 2 --domain com.nobody", 1, ERR, "[!] no operator of the domain 'com.nobody' is known [in identity.onnx]"),
    ("surgeon convert-opset gone.onnx --to 11", 1, ERR, "[!] cannot open gone.onnx: No such file or directory"),
    ("surgeon convert-opset empty.onnx --to 11", 1, ERR, "[!] the file is empty [in empty.onnx]"),
    ("surgeon convert-opset truncated.onnx --to 11", 1, ERR, "[!] the bytes are damaged at offset 4: a length reaches beyond its end [in truncated.onnx]"),
    ("surgeon convert-opset random.onnx --to 11", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in random.onnx]"),
    ("surgeon convert-opset cycle.onnx --to 11", 1, ERR, "[!] the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu) [in cycle.onnx]"),
    ("surgeon convert-opset dangling.onnx --to 11", 1, ERR, "[!] the input 'nowhere' is not defined: no graph input, initializer or node output has that name [at node 'n0' (Relu)] [in dangling.onnx]"),
    ("surgeon convert-opset external_parent.onnx --to 11", 1, ERR, "[!] its external data are at '../outside.bin', outside the model's folder [in initializer 'w'] [in external_parent.onnx]"),
    ("surgeon convert-opset unknown_op.onnx --to 11", 0, OUT, "[W] The operator Frobnicate of ai.onnx is unknown; its nodes stay as they are."),
    ("surgeon convert-opset identity.onnx --to 11", 0, OUT, "[I] Nothing is written, because no file is named with -o."),
    ("surgeon convert-opset identity.onnx --to 11 -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("surgeon convert-opset identity.onnx --to 11 -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
]

CASES = USAGE + REFUSED + VALUES + MODELS + DATA + CONFORMANCE + CONVERSION
