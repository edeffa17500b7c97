"""Bad input: a line per case. Add yours.

Each case is a command (after the program's name), the exit code, the stream that must carry the message, and the message:
all of it, so that a change of wording shows. `$DIR` stands for the folder where the command runs; fixtures.py says what
is in it. A message of several lines is given with its line breaks.
"""

from shard_cases import SHARDING

OUT, ERR = "stdout", "stderr"

COMMANDS = "'run', 'convert', 'bench', 'generate', 'eval', 'merge', 'inspect', 'view', 'check', 'surgeon', 'template', 'debug', 'data', 'plugin', 'multi-device', 'python', 'completion'"
ARRAYS = ('Write an array as {"polygraphy_class": "ndarray", "array": "the .npy file in base64"}, or save the inputs with '
          'numpy.savez("inputs.npz", name=array).')

USAGE = [
    ("run identity.onnx --ref --no-such-option", 1, OUT, "[E] Unrecognized Options: ['--no-such-option']"),
    ("run identity.onnx --ref --fail-fst", 1, OUT, "[E] Unrecognized Options: ['--fail-fst']"),
    ("run identity.onnx --ref --fail-fst", 1, ERR, "assay: --fail-fst is not an option; did you mean --fail-fast?"),
    ("run identity.onnx extra --ref more", 1, OUT, "[E] Unrecognized Options: ['extra', 'more']"),
    ("run identity.onnx --ref --onnx x", 2, ERR, "assay run: error: ambiguous option: --onnx could match --onnxrt, --onnxrt-library, --onnx-outputs, --onnx-outputs-by-type, --onnx-exclude-outputs, --onnx-flags"),
    ("run identity.onnx --ref --seed x", 2, ERR, "assay run: error: argument --seed: invalid int value: 'x'"),
    ("run identity.onnx --ref --compare nope", 2, ERR, "assay run: error: argument --compare/--compare-func: invalid choice: 'nope' (choose from 'simple', 'indices', 'l2', 'cosine_similarity', 'distance_metrics', 'psnr', 'snr', 'quality_metrics', 'perceptual_metrics')"),
    ("run identity.onnx --ref --rtol", 2, ERR, "assay run: error: argument --rtol/--rel-tol: expected at least one argument"),
    ("nope", 2, ERR, f"assay: error: argument command: invalid choice: 'nope' (choose from {COMMANDS})"),
    ("rnu identity.onnx --ref", 2, ERR, f"assay: error: argument command: invalid choice: 'rnu' (choose from {COMMANDS}). Did you mean 'run'?"),
    ("sanitize identity.onnx", 2, ERR, f"assay: error: argument command: invalid choice: 'sanitize' (choose from {COMMANDS}). Did you mean 'surgeon sanitize'?"),
    ("extrcat identity.onnx", 2, ERR, f"assay: error: argument command: invalid choice: 'extrcat' (choose from {COMMANDS}). Did you mean 'surgeon extract'?"),
    ("identity.onnx --ref", 2, ERR, f"assay: error: argument command: invalid choice: 'identity.onnx' (choose from {COMMANDS}). Did you mean 'run identity.onnx'?"),
    ("surgeon sanitise identity.onnx", 2, ERR, "assay surgeon: error: argument command: invalid choice: 'sanitise' (choose from 'extract', 'sanitize', 'insert', 'convert-opset', 'prune', 'weight-strip', 'weight-reconstruct'). Did you mean 'sanitize'?"),
    ("run identity.onnx --ref --compare simpel", 2, ERR, "assay run: error: argument --compare/--compare-func: invalid choice: 'simpel' (choose from 'simple', 'indices', 'l2', 'cosine_similarity', 'distance_metrics', 'psnr', 'snr', 'quality_metrics', 'perceptual_metrics'). Did you mean 'simple'?"),
    ("", 0, OUT, "  Who is wrong, and where does it begin?"),
    ("inspect", 2, ERR, "assay inspect: error: the following arguments are required: command"),
    ("template", 2, ERR, "assay template: error: the following arguments are required: command"),
]

REFUSED = [
    ("run identity.onnx --pluginref", 1, ERR, "[!] --pluginref is not available yet: the plugin reference runner is replaced by --ref, which knows every operator of this build."),
    ("run identity.onnx --ref --gen-script x.h", 1, ERR, "[!] --gen-script: the name x.h does not say what to write. End it with .cpp, .cc or .cxx for a C++ program, with .py for a Python script; - writes that to standard output."),
    ("run identity.onnx --ref --gen-script", 2, ERR, "assay run: error: argument --gen/--gen-script: expected one argument"),
    ("run nothing.onnx --ref --gen-script x.py --atol x", 1, ERR, "[!] --atol: 'x' is not a number."),
    ("run --ref --gen-script x.py", 1, ERR, "[!] One or more runners was specified, but no model file was provided. Make sure you've specified the model path, and also that it's not being consumed as an argument for another parameter"),
    ("run identity.onnx --trt --trt-cpps x.py", 1, ERR, "[!] cannot open x.py: No such file or directory [as a script]"),
    ("run identity.onnx --ref --save-engine x.plan", 1, ERR, "[!] --save-engine has no effect: it is about the engine that --trt builds, and --trt is not among the runners. Add --trt, or leave it out."),
    ("run identity.onnx --ref --show-heatmaps", 1, ERR, "[!] --show-heatmaps is not available yet: this build opens no windows. Save the pictures with --save-heatmaps or --save-error-metrics-plot."),
    ("run identity.onnx --ref --data-loader-backend-module torch", 1, ERR, "[!] --data-loader-backend-module torch is not available yet: this build has NumPy's random generator. Save the inputs elsewhere and load them with --load-inputs."),
]

VALUES = [
    ("run identity.onnx --ref --input-shapes x:3", 1, ERR, "[!] --input-shapes: could not parse x:3. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes x:1x2", 1, ERR, "[!] --input-shapes: could not parse x:1x2. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes [1,2]", 1, ERR, "[!] --input-shapes: could not parse [1,2]. Expected name:[extents], as in image:[1,3,224,224]."),
    ("run identity.onnx --ref --input-shapes x:[1.5]", 1, ERR, "[!] --input-shapes: in x:[1.5], 1.5 is not an extent; an extent is an integer, or a name."),
    ("run identity.onnx --ref --input-shapes x:[9,9]", 1, ERR, "[!] --input-shapes: the input 'x' cannot have the shape (9, 9), its shape in the model is (1, 2). Only extents that the model leaves open can be chosen; surgeon sanitize --override-input-shapes changes the model."),
    ("run identity.onnx --ref --input-shapes z:[1]", 1, ERR, "[!] --input-shapes names 'z', and no input is called so; the inputs are: 'x'"),
    ("run dynamic.onnx --ref", 0, OUT, "[W] Input tensor: x [shape=BoundedShape(['n', 2], min=None, max=None)] | Will generate data of shape: [1, 2].\n    If this is incorrect, please provide a custom data loader."),
    ("run identity.onnx --ref --val-range x:[0,1,2]", 1, ERR, "[!] In --val-range, for input: x, expected to receive exactly 2 values, but received 3.\n    Note: Option was parsed as: input: x, range: (0, 1, 2)"),
    ("run identity.onnx --ref --val-range 5", 1, ERR, "[!] --val-range: 5 is one number; a range needs two, as in [0,1]."),
    ("run cast.onnx --ref --val-range [5,2]", 1, ERR, "[!] the range [5, 2] of random integers is empty [for input 'i' of type int32]. Give --val-range a range that the type holds, the smaller bound first."),
    ("run identity.onnx --ref --seed -1", 1, ERR, "[!] --seed -1: a seed lies between 0 and 4294967295, counted up by one for each iteration"),
    ("run identity.onnx --ref --rtol y:abc", 1, ERR, "[!] --rtol: 'abc' is not a number (for output y)."),
    ("run identity.onnx --ref --check-error-stat foo", 1, ERR, "[!] Invalid choice for check_error_stat: foo.\n    Note: Valid choices are: ['max', 'mean', 'median', 'elemwise', 'quantile']"),
    ("run identity.onnx --ref --postprocess foo", 1, ERR, "[!] Invalid post-processing function: foo. Note: Valid choices are: ['top-<K>']."),
    ("run identity.onnx --ref --error-quantile 2", 1, ERR, "[!] --error-quantile: 2 is not between 0 and 1."),
    ("run identity.onnx --ref --verbosity loud", 1, ERR, "[!] 'loud' is not a log level; the levels are ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE, INFO, START, FINISH, WARNING, ERROR, CRITICAL"),
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
    ("run model.engine --ref", 1, ERR, "[!] $DIR/model.engine is a plan, which only --trt and --engine run: --ref needs the ONNX model"),
    ("run empty.onnx --ref", 1, ERR, "[!] the file is empty [in $DIR/empty.onnx]"),
    ("run truncated.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 4: a length reaches beyond its end [in $DIR/truncated.onnx]"),
    ("run text.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in $DIR/text.onnx]"),
    ("run random.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in $DIR/random.onnx]"),
    ("run long_length.onnx --ref", 1, ERR, "[!] the bytes are damaged at offset 6: a length reaches beyond its end [in $DIR/long_length.onnx]"),
    ("run cycle.onnx --ref", 1, ERR, "[!] the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu) [in $DIR/cycle.onnx]"),
    ("run twin_inputs.onnx --ref", 0, OUT, "[W] Two graph inputs are named 'x'; they are taken for one, of the type that comes first."),
    ("inspect model twin_inputs.onnx", 0, OUT, "    ---- 1 Graph Input(s) ----\n    {x [dtype=float32, shape=(1, 2)]}"),
    ("surgeon sanitize twin_inputs.onnx --cleanup -o out.onnx", 0, OUT, "[W] Two graph inputs are named 'x'; they are taken for one, of the type that comes first."),
    ("run any_rank.onnxtxt --ref --input-shapes x:[2,3] -v", 0, OUT, "    ---- Inference Output(s) ----\n    {y [dtype=float32, shape=(2, 3)]}"),
    ("run any_rank.onnxtxt --engine --input-shapes x:[2,3] -v", 0, OUT, "    ---- Inference Output(s) ----\n    {y [dtype=float32, shape=(2, 3)]}"),
    ("run any_rank.onnxtxt --engine", 0, OUT, "[W] Input tensor: x | Its rank is unknown. Will generate a scalar.\n    If this is incorrect, give its shape with --input-shapes, or its data with --load-inputs."),
    ("surgeon extract any_rank.onnxtxt --model-input-shapes x:[2,3] --force-fallback-shape-inference -o out.onnx", 0, OUT, "[I] Forcing fallback shape inference. This will cause dynamic dimensions to become static."),
    ("surgeon extract any_rank.onnxtxt --model-input-shapes x:[2,3] --force-fallback-shape-inference -o out.onnx", 0, OUT, "[I] Running fallback shape inference using input metadata:\n    {x [dtype=float32, shape=(2, 3)]}"),
    ("surgeon sanitize any_rank.onnxtxt --override-input-shapes x:[2,3] --force-fallback-shape-inference -o out.onnx", 0, OUT, "[I] Running fallback shape inference using input metadata:\n    {x [dtype=float32, shape=(2, 3)]}"),
    ("surgeon sanitize dynamic.onnx --force-fallback-shape-inference --load-inputs nan.json -o out.onnx", 0, OUT, "    {y [dtype=float32, shape=(1, 2)]}"),
    ("surgeon extract any_rank.onnxtxt --force-fallback-shape-inference -o out.onnx", 0, OUT, "[W] Input tensor: x | Its rank is unknown. Will generate a scalar.\n    If this is incorrect, give its shape with --model-input-shapes, or its data with --load-inputs."),
    ("surgeon sanitize any_rank.onnxtxt --force-fallback-shape-inference -o out.onnx", 0, OUT, "[W] Input tensor: x | Its rank is unknown. Will generate a scalar.\n    If this is incorrect, give its shape with --override-input-shapes, or its data with --load-inputs."),
    ("surgeon insert two.onnx --inputs h --outputs y --op Abs -o out.onnx", 0, OUT, "[I] Original Model:\n    Name: g | ONNX Opset: 13"),
    ("surgeon insert two.onnx --inputs h --outputs h --op Abs -o out.onnx", 0, OUT, "[I] New Model:\n    Name: g | ONNX Opset: 13\n    \n    ---- 1 Graph Input(s) ----\n    {x [dtype=float32, shape=(1, 2)]}\n    \n    ---- 1 Graph Output(s) ----\n    {y [dtype=float32, shape=(1, 2)]}\n    \n    ---- 0 Initializer(s) ----\n    \n    ---- 3 Node(s) ----"),
    ("surgeon sanitize two.onnx --set-unbounded-dds-upper-bound x -o out.onnx", 1, ERR, "[!] --set-unbounded-dds-upper-bound: 'x' is not a number."),
    ("run branches.onnxtxt --ref --onnx-outputs mark all", 0, OUT, "[W] `mark all` leaves out 3 tensor(s) in the bodies of 1 node(s): 'choice' (If).\n    Name them to see them, as in: choice::then_branch::h"),
    ("surgeon sanitize identity.onnx --force-fallback-shape-inference --data-loader-script f.py -o out.onnx", 1, ERR, "[!] cannot open f.py: No such file or directory [as a script] [in $DIR/identity.onnx]"),
    ("surgeon extract identity.onnx --force-fallback-shape-inference --data-loader-script f.py -o out.onnx", 1, ERR, "[!] cannot open f.py: No such file or directory [as a script] [in $DIR/identity.onnx]"),
    ("convert identity.onnx --data-loader-func-name f -o out.plan", 0, OUT, "[W] --data-loader-func-name has no effect: a conversion without calibration needs no data."),
    ("convert identity.onnx --int8 --bf16 -o out.onnx", 1, ERR, "[!] --bf16 has no effect: no engine is built, an ONNX model is written. Leave it out, or write a plan."),
    ("convert identity.onnx --int4 --int8 -o out.onnx", 1, ERR, "[!] --int4 and --int8 exclude each other: products have weights of 4 bits and inputs in floating point, or both in 8 bits."),
    ("convert identity.onnx --accuracy-target 30dB -o out.plan", 1, ERR, "[!] --accuracy-target has no effect: nothing is calibrated without --int8. Add --int8."),
    ("convert identity.onnx --fp16 -o out.onnx", 1, ERR, "[!] --fp16 has no effect: no engine is built, an ONNX model is written. --fp-to-fp16 converts the model itself to float16."),
    ("convert identity.onnx --calibration-cache c.txt -o out.plan", 0, OUT, "[W] --calibration-cache has no effect: nothing is calibrated without --int8."),
    ("convert identity.onnx --int8 -o out.plan --builder-optimization-level 0", 0, OUT, "[W] int8 is allowed, but no Conv, Gemm or MatMul of the network can be computed in 8 bits"),
    ("convert identity.onnx --int8 --calib-base-cls IInt8Guess -o out.plan", 1, ERR, "[!] --calib-base-cls: there is no calibrator 'IInt8Guess'. The calibrators are: IInt8EntropyCalibrator2, IInt8EntropyCalibrator, IInt8MinMaxCalibrator, IInt8LegacyCalibrator, IInt8Calibrator, mean-squared-error, entropy-2, entropy, min-max, percentile."),
    ("convert identity.onnx --int8 --quantile 2 -o out.plan", 1, ERR, "[!] --quantile: 2 is not above 0 and up to 1."),
    ("convert identity.onnx --int8 --calibration-cache identity.onnx -o out.plan", 1, ERR, "[!] identity.onnx: not a calibration cache: its first line is '\\x08\\x08:C', not TRT-VERSION-ALGORITHM. Move it away to calibrate anew."),
    ("convert identity.onnx --int8 --load-inputs none.json -o out.plan", 1, ERR, "[!] cannot open none.json: No such file or directory"),
    ("bench identity.onnx --int8 --calib none.cache", 1, ERR, "[!] there is no calibration cache none.cache"),
    ("bench identity.onnx --int8 --calib identity.onnx", 1, ERR, "[!] identity.onnx: not a calibration cache: its first line is '\\x08\\x08:C', not TRT-VERSION-ALGORITHM"),
    ("convert identity.onnx --data-loader-script f.py -o out.plan", 0, OUT, "[W] --data-loader-script has no effect: a conversion without calibration needs no data."),
    ("convert identity.onnx --seed 3 -o out.plan", 0, OUT, "[W] --seed has no effect: a conversion without calibration needs no data."),
    ("template trt-config --data-loader-script f.py -o out.py", 1, ERR, "[!] --data-loader-script is not available yet: this build does not put it into the script. Write it into the function load_config."),
    ("run identity.onnx --engine --strict-trt", 0, OUT, "[W] --strict-trt has no effect: it is about the runner --trt, which is not given."),
    ("run duplicate.onnx --ref", 1, ERR, "[!] the output 'y' of node 'n1' (Neg) is already the name of another node's output [in $DIR/duplicate.onnx]"),
    ("run dangling.onnx --ref", 1, ERR, "[!] the input 'nowhere' is not defined: no graph input, initializer or node output has that name [at node 'n0' (Relu)] [in $DIR/dangling.onnx]"),
    ("run unknown_op.onnx --ref", 1, ERR, "[!] the operator Frobnicate of domain 'ai.onnx' is unknown [at node 'n0' (Frobnicate)] [in $DIR/unknown_op.onnx]"),
    ("run unknown_domain.onnx --ref", 1, ERR, "[!] the model does not import the domain 'com.nobody' of operator Relu [at node 'n0' (com.nobody::Relu)] [in $DIR/unknown_domain.onnx]"),
    ("run unknown_type.onnx --ref", 1, ERR, "[!] the element type 99 is unknown [in the type of 'x'] [in $DIR/unknown_type.onnx]"),
    ("run short_weight.onnx --ref", 1, ERR, "[!] it has 4 bytes of data, but float32 of shape (1, 2) needs 8 [in initializer 'w'] [in $DIR/short_weight.onnx]"),
    ("run external_missing.onnx --ref", 1, ERR, "[!] its external data file $DIR/gone.bin does not exist [in initializer 'w'] [in $DIR/external_missing.onnx]. Name the folder that holds it with --external-data-dir."),
    ("run external_short.onnx --ref", 1, ERR, "[!] its external data need bytes 0 to 8 of $DIR/short.bin, which has only 4 [in initializer 'w'] [in $DIR/external_short.onnx]"),
    ("run external_parent.onnx --ref", 1, ERR, "[!] its external data are at '../outside.bin', outside the model's folder [in initializer 'w'] [in $DIR/external_parent.onnx]"),
    ("run external_absolute.onnx --ref", 1, ERR, "[!] its external data are at the absolute path '/etc/hostname'; they must lie in the model's folder [in initializer 'w'] [in $DIR/external_absolute.onnx]"),
    ("run external_link.onnx --ref", 1, ERR, "[!] its external data 'link.bin' are a link to '/etc/hostname', outside the model's folder [in initializer 'w'] [in $DIR/external_link.onnx]"),
    ("run two.onnx --ref --onnx-outputs H nope", 1, ERR, "[!] The following outputs were not found in the model: {'H', 'nope'} [in $DIR/two.onnx]. Similar names are: ['h']."),
    ("run identity.onnx --ref --onnx-exclude-outputs nope", 1, ERR, "[!] The following outputs were not found in the model: {'nope'} [in $DIR/identity.onnx]"),
    ("run dynamic.onnx --ref --input-shapes x:[100000000000,2]", 1, ERR, "[!] a float64 tensor of shape (100000000000, 2) takes more than the $BYTES bytes that there are. The option --memory-limit changes how much there may be."),
    ("run dynamic.onnx --ref --input-shapes x:[100000,2] --memory-limit 1M", 1, ERR, "[!] a float64 tensor of shape (100000, 2) takes more than the $BYTES bytes that there are. The option --memory-limit changes how much there may be."),
    ("run dynamic.onnx --engine --input-shapes x:[200000,2] --memory-limit 2M", 1, ERR, "[!] a float64 tensor of shape (200000, 2) takes more than the $BYTES bytes that there are. The option --memory-limit changes how much there may be."),
    ("run dynamic.onnx --engine --input-shapes x:[20,2] --memory-limit 2M -v", 0, OUT, "    ---- Inference Output(s) ----\n    {y [dtype=float32, shape=(20, 2)]}"),
    ("run dynamic.onnx --ref --memory-limit 1K", 1, ERR, "[!] --memory-limit: 1K is too small; it must be at least 1048576"),
    ("run dynamic.onnx --ref --memory-limit lots", 1, ERR, "[!] Could not convert lots to a number of bytes. Please use either an integer (e.g. 16000000), scientific notation (e.g. 16e6), or a number with a valid suffix: K, M, or G (e.g. 16M)."),
]

TEXTS = [
    ("run two.onnxtxt --ref -v", 0, OUT, "    {y [dtype=float32, shape=(1, 2)]}"),
    ("run text_in.onnx --ref --engine", 0, OUT, "[I] Loading model: $DIR/text_in.onnx"),
    ("run text_syntax.onnxtxt --ref", 1, ERR, "[!] expected ')' or ',' after the inputs of a node, but found 'w' [at line 6, column 23:   [second] y = Mul (h w)] [in $DIR/text_syntax.onnxtxt]"),
    ("run text_elements.onnxtxt --ref", 1, ERR, "[!] float[2] needs 2 element(s), but more are given [at line 3, column 22: <float[2] w = {1, 2, 3}>] [in $DIR/text_elements.onnxtxt]"),
    ("run text_dangling.onnxtxt --ref", 1, ERR, "[!] the input 'v' is not defined: no graph input, initializer or node output has that name [at node 'second' (Mul)] [in $DIR/text_dangling.onnxtxt]"),
    ("run text_left_out.txt --ref", 1, ERR, "[!] expected a number in float[2], but found '...': this text leaves elements out [at line 3, column 19: <float[2] w = {1, ...}>] [in $DIR/text_left_out.txt]"),
    ("run text_external.onnxtxt --ref", 1, ERR, "[!] its external data are at '../outside.bin', outside the model's folder [in initializer 'w'] [in $DIR/text_external.onnxtxt]"),
    ("run text_empty.onnxtxt --ref", 1, ERR, "[!] expected the name of a graph, but found the end of the text [at line 1, column 1: ] [in $DIR/text_empty.onnxtxt]"),
]

DATA = [
    ("run identity.onnx --ref --load-inputs name.json", 1, ERR, "[!] name.json has no data for the input 'x' of the model; it has ['z']. Name the arrays as the inputs are; `inspect model` shows these."),
    ("run identity.onnx --ref --load-inputs type.json", 0, OUT, "[W] Input tensor: x | Buffer dtype (int64) does not match expected input dtype (float32), attempting to cast. "),
    ("run cast.onnx --ref --load-inputs range.json", 0, OUT, "[W] Some values in this input are out of range of int32. Unexpected behavior may ensue!"),
    ("run identity.onnx --ref --load-inputs shape.json", 0, OUT, "[W] Input tensor: x | Buffer shape ((2, 1)) does not match expected input shape (BoundedShape([1, 2], min=None, max=None)). Attempting to transpose/reshape."),
    ("run identity.onnx --ref --load-inputs rank.json", 1, ERR, "[!] Input tensor: x | Cannot reuse input data due to mismatch in shape or data type.\n    Note: Provided input: [dtype=float32, shape=(3,)], Requested input: [dtype=float32, shape=BoundedShape([1, 2], min=None, max=None)]"),
    ("run identity.onnx --ref --load-inputs nan.json", 0, OUT, "[I] Loading input data from nan.json"),
    ("run identity.onnx --ref --load-inputs nan.json --validate", 1, OUT, "[E]     NaN Detected | One or more NaNs were encountered in this output"),
    ("run identity.onnx --ref --load-inputs inf.json --validate", 1, OUT, "[E]     Inf Detected | One or more non-finite values were encountered in this output"),
    ("run identity.onnx --ref --load-inputs gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("run identity.onnx --ref --load-inputs not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("run identity.onnx --ref --load-inputs other.json", 1, ERR, "[!] the value is a Python int, not an array [in input 'a'] [at iteration 0] [in other.json]. " + ARRAYS),
    ("run identity.onnx --ref --load-inputs empty_list.json", 1, ERR, "[!] Nothing was run: there is no set of inputs. Give --load-inputs a file that holds some, or leave it out."),
    ("run identity.onnx --ref --load-inputs no_array.json", 1, ERR, "[!] base64 text has 3 characters, which is not a multiple of 4 [in input 'x'] [at iteration 0] [in no_array.json]"),
    ("run identity.onnx --ref --load-outputs gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("run identity.onnx --ref --load-outputs not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("run identity.onnx --ref --save-outputs identity.onnx/out.json", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("run identity.onnx --ref --save-outputs name.json/x", 1, ERR, "[!] cannot create the folder name.json/x: Not a directory"),
    ("run identity.onnx --ref --load-outputs folder", 1, OUT, "[E] FAILED | Iterations of some runs were not compared with any. --partial compares the results that exist."),
    ("run identity.onnx --ref --load-inputs name.json --save-inputs name.json", 1, ERR, "[!] The load path 'name.json' overlaps the save path 'name.json'. Saving would overwrite or conflict with the data being loaded. Use distinct paths for loading and saving."),
    ("run identity.onnx --ref --compare l2 --l2-threshold abc", 1, ERR, "[!] --l2-threshold: 'abc' is not a number."),
    ("run identity.onnx --ref --check-average", 1, ERR, "[!] --check-average is not supported with check_error_stat='elemwise' (the default). Specify --check-error-stat max, mean, median, or quantile."),
    ("run identity.onnx --ref --graph-optimization-level much", 1, ERR, "[!] --graph-optimization-level: much is none of ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_LAYOUT and ORT_ENABLE_ALL."),
    ("run identity.onnx --ref --onnx-outputs zzz*", 1, ERR, "[!] No outputs were selected. Please check your wildcard patterns."),
    ("run identity.onnx --ref --onnx-outputs-by-type mull", 1, ERR, "[!] no node of the model has any of the op types that outputs are selected by [in $DIR/identity.onnx]"),
    ("check accuracy gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("check accuracy name.json", 1, ERR, "[!] Provided JSON cannot be decoded into a AccuracyResults."),
    ("inspect data folder", 1, ERR, "[!] No per-iteration '*.json' files found in directory: folder"),
    ("data concat folder -o out.json", 1, ERR, "[!] no file of iterations was found in ['folder']"),
    ("run identity.onnx --ref --save-outputs /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --save-inputs /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --save-onnx /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("run identity.onnx --ref --log-file identity.onnx/log", 1, ERR, "[!] cannot write the log file identity.onnx/log: Not a directory"),
]

LINT = [
    ("check lint", 2, ERR, "assay check lint: error: the following arguments are required: model_file"),
    ("check lint gone.onnx --no-onnxrt", 1, ERR, "[!] cannot open gone.onnx: No such file or directory"),
    ("check lint identity.onnx --no-onnxrt -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("check lint identity.onnx --no-onnxrt --input-shapes z:[1]", 1, ERR, "[!] the model has no input 'z'; its inputs are 'x'"),
    ("check lint identity.onnx --no-onnxrt --rules mine", 2, ERR, "assay check lint: error: argument --rules: invalid choice: 'mine' (choose from 'all', 'upstream')"),
    ("check lint two.onnxtxt --no-onnxrt", 0, OUT, "[I] Loading model: $DIR/two.onnxtxt"),
    ("check lint empty.onnx --no-onnxrt", 1, OUT, "[E] LINT | Empty ONNX model given"),
    ("check lint truncated.onnx --no-onnxrt", 1, OUT, "[E] LINT | the bytes are damaged at offset 4: a length reaches beyond its end"),
    ("check lint text.onnx --no-onnxrt", 1, OUT, "[E] LINT | the bytes are damaged at offset 1: an unknown wire type"),
    ("check lint random.onnx --no-onnxrt", 1, OUT, "[E] LINT | the bytes are damaged at offset 1: an unknown wire type"),
    ("check lint long_length.onnx --no-onnxrt", 1, OUT, "[E] LINT | the bytes are damaged at offset 6: a length reaches beyond its end"),
    ("check lint cycle.onnx --no-onnxrt", 1, OUT, "[E] LINT | the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu)"),
    ("check lint duplicate.onnx --no-onnxrt", 1, OUT, "[E] LINT | Name: n1, Op: Neg | 'y' is defined twice: as a node output and as a node output"),
    ("check lint dangling.onnx --no-onnxrt", 1, OUT, "[E] LINT | Name: n0, Op: Relu | the input 'nowhere' is not defined: no graph input, initializer or node output has that name"),
    ("check lint unknown_op.onnx --no-onnxrt", 1, OUT, "[E] LINT | Name: n0, Op: Frobnicate | the domain 'ai.onnx' has no operator Frobnicate, and no function of the model has that name"),
    ("check lint unknown_domain.onnx --no-onnxrt", 0, OUT, "[W] LINT | Name: n0, Op: Relu | the model does not import the domain 'com.nobody' of the operator"),
    ("check lint unknown_type.onnx --no-onnxrt", 1, OUT, "[E] LINT | 'x' is declared with the unknown element type 99"),
    ("check lint short_weight.onnx --no-onnxrt", 1, OUT, "[E] LINT | initializer 'w': it has 4 bytes of data, but float32 of shape (1, 2) needs 8"),
    ("check lint external_missing.onnx --no-onnxrt", 1, OUT, "[E] LINT | initializer 'w': its external data file $DIR/gone.bin does not exist"),
    ("check lint external_parent.onnx --no-onnxrt", 1, OUT, "[E] LINT | initializer 'w': its external data are at '../outside.bin', outside the model's folder"),
    ("check lint external_link.onnx --no-onnxrt", 1, OUT, "[E] LINT | initializer 'w': its external data 'link.bin' are a link to '/etc/hostname', outside the model's folder"),
    ("check lint text_syntax.onnxtxt --no-onnxrt", 1, OUT, "[E] LINT | expected ')' or ',' after the inputs of a node, but found 'w' [at line 6, column 23:   [second] y = Mul (h w)]"),
]

CONFORMANCE = [
    ("check", 2, ERR, "assay check: error: the following arguments are required: command"),
    ("check conformance", 2, ERR, "assay check conformance: error: the following arguments are required: folders"),
    ("check conformance folder --no-extensions --on nowhere", 2, ERR, "assay check conformance: error: argument --on: invalid choice: 'nowhere' (choose from 'inference', 'engine', 'engine-unoptimized', 'trt', 'onnxrt', 'reference', 'reference-stored')"),
    ("check conformance folder --jobs 0", 1, ERR, "[!] --jobs: 0 is too small; it must be at least 1."),
    ("check conformance gone", 1, ERR, "[!] there is no folder 'gone'"),
    ("check conformance folder", 1, ERR, "[!] there is no test case (a folder with model.onnx) below 'folder'"),
    ("check conformance folder --expected gone.txt", 1, ERR, "[!] cannot open gone.txt: No such file or directory"),
    ("check conformance folder --expected empty_list.json", 1, ERR, "[!] empty_list.json: line 1 is not of the form `TARGET CASE: REASON`: []"),
]

# Files that no reader takes: the same message from every command that reads a model.
UNREADABLE = ["nothing", "empty", "truncated", "text", "random", "long_length", "cycle", "duplicate", "dangling", "unknown_type",
              "short_weight", "external_missing", "external_short", "external_parent", "external_absolute", "external_link"]
READERS = [("inspect model {} --show layers", 1), ("inspect sparsity {}", 1), ("inspect diff {} identity.onnx", 2),
           ("inspect diff identity.onnx {}", 2),
           ("surgeon extract {} --outputs y:auto -o out.onnx", 1), ("surgeon insert {} --inputs x --outputs y --op F -o out.onnx", 1),
           ("surgeon sanitize {} --fold-constants -o out.onnx", 1)]
READING = [(reader.format(f"{name}.onnx"), status, ERR, message)
           for name in UNREADABLE for command, _, stream, message in MODELS if command == f"run {name}.onnx --ref" and stream == ERR
           for reader, status in READERS]

INSPECT = [
    ("inspect model", 2, ERR, "assay inspect model: error: the following arguments are required: model_file"),
    ("inspect diff identity.onnx", 2, ERR, "assay inspect diff: error: the following arguments are required: model_b"),
    ("inspect data", 2, ERR, "assay inspect data: error: the following arguments are required: path"),
    ("inspect model identity.onnx --show nodes", 2, ERR, "assay inspect model: error: argument --show: invalid choice: 'nodes' (choose from 'layers', 'attrs', 'weights', 'text')"),
    ("inspect model identity.onnx --display-as onnx", 2, ERR, "assay inspect model: error: argument --display-as/--convert-to: invalid choice: 'onnx' (choose from 'trt')"),
    ("inspect model model.engine", 1, ERR, "[!] not a plan file [in $DIR/model.engine]. Build it again on this machine with this program: assay convert MODEL -o PLAN."),
    ("inspect model identity.onnx --show text", 0, OUT, "  [id] y = Identity (x)"),
    ("inspect model nothing.onnx", 1, OUT, "[W] Model path does not exist: nothing.onnx"),
    ("inspect model no_extension --model-type onnx", 0, OUT, "    Name: g | ONNX Opset: 13"),
    ("inspect sparsity no_extension", 0, OUT, "[I] Finished checking 0 tensors. "),
    ("inspect model unknown_op.onnx --show layers", 0, OUT, "    Node 0    | n0 [Op: Frobnicate]"),
    ("inspect model unknown_domain.onnx --show layers", 0, OUT, "    Node 0    | n0 [Op: Relu]"),
    ("inspect model unknown_opset.onnx", 0, OUT, "    Name: g | ONNX Opset: 9999"),
    ("inspect model unknown_op.onnx --stats", 0, OUT, "    Frobnicate: what this operator computes is not known"),
    ("inspect model unknown_op.onnx --shape-inference", 0, OUT, "    ---- 1 Node(s) ----"),
    ("inspect model external_missing.onnx --ignore-external-data", 0, OUT, "    ---- 1 Initializer(s) ----"),
    ("inspect model external_missing.onnx --ignore-external-data --show weights", 0, OUT, "        <error: failed to load weights>"),
    ("inspect model identity.onnx --input-shapes z:[1,2]", 1, ERR, "[!] the model has no input 'z'; its inputs are 'x'"),
    ("inspect model identity.onnx --input-shapes x:[1,2,3]", 1, ERR, "[!] the input 'x' has 2 dimensions, not 3"),
    ("inspect model identity.onnx --stats --json identity.onnx/out.json", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("inspect model identity.onnx --visual --visual-port 65536", 1, ERR, "[!] --visual-port: 65536 is no port; they go from 0 to 65535"),
    ("inspect model identity.onnx --visual --visual-port x", 2, ERR, "assay inspect model: error: argument --visual-port: invalid int value: 'x'"),
    ("inspect model identity.onnx --save-visual identity.onnx/out.html", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("inspect model identity.onnx --save-visual out.html --show layers", 0, OUT, "[W] --show is about the text, which the viewer replaces."),
    ("inspect model identity.onnx --visual-port 1", 0, OUT, "[W] --visual-port is of use only where --visual serves the page."),
    ("inspect model external_missing.onnx --ignore-external-data --save-visual out.html", 0, OUT, "[I] Viewer HTML saved to out.html"),
    ("inspect diff identity.onnx identity.onnx", 0, OUT, "    ---- 0 Difference(s) ----"),
    ("inspect diff identity.onnx dynamic.onnx", 1, OUT, "    ~ type of 'x': float32[1, 2] -> float32[n, 2]"),
    ("inspect diff identity.onnx identity.onnx --json /dev/full", 2, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("inspect diff identity.onnx identity.onnx --ignore names", 2, ERR, "assay inspect diff: error: argument --ignore: invalid choice: 'names' (choose from 'metadata', 'opset', 'attribute', 'initializer')"),
    ("inspect data gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("inspect data not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("inspect data other.json", 1, ERR, "[!] the value is a Python int, not an array [in input 'a'] [at iteration 0] [in other.json]. " + ARRAYS),
    ("inspect data no_array.json", 1, ERR, "[!] base64 text has 3 characters, which is not a multiple of 4 [in input 'x'] [at iteration 0] [in no_array.json]"),
    ("inspect data short_header.json", 1, ERR, "[!] the .npz archive is damaged: an array's header is empty [in array 'x'] [in input 'x'] [at iteration 0] [in short_header.json]"),
    ("data to-input short_header.json -o out.json", 1, ERR, "[!] the .npz archive is damaged: an array's header is empty [in array 'x'] [in input 'x'] [at iteration 0] [in short_header.json]"),
    ("run identity.onnx --ref --load-inputs short_header.json", 1, ERR, "[!] the .npz archive is damaged: an array's header is empty [in array 'x'] [in input 'x'] [at iteration 0] [in short_header.json]"),
    ("inspect data wide.json", 1, ERR, "[!] the .npy header is malformed: its strings are longer than NumPy's can be [in input 'x'] [at iteration 0] [in wide.json]"),
    ("surgeon sanitize identity.onnx --force-fallback-shape-inference --load-inputs words.json -o out.onnx", 1, ERR, "[!] the data for input 'x' are of type string and shape (0,), but the model declares float32[1, 2] [in $DIR/identity.onnx]"),
    ("inspect data one_blob_twice.json", 1, ERR, "[!] the entries 'a' and 'b' of the .npz archive overlap [in input 'x'] [at iteration 0] [in one_blob_twice.json]"),
    ("run picture.onnx --ref -v", 0, OUT, "    ---- Inference Output(s) ----\n    {y [dtype=uint8, shape=(0, 0, 3)]}"),
    ("inspect model deep.onnxtxt", 1, ERR, "[!] subgraphs nest deeper than 32 [at line 1, column 1534: ...<then_branch = t () => (bool y) { y = If (c) <then_branch = t () => (bool y) { y = If (c) <then_branch = t () => (bool y...] [in $DIR/deep.onnxtxt]"),
    ("inspect data empty_list.json", 0, OUT, "[I] ==== Data (0 iterations) ===="),
    ("inspect data nan.json --num-items -2", 1, ERR, "[!] --num-items: -2 is too small; it must be at least -1."),
]

SURGEON = [
    ("surgeon", 2, ERR, "assay surgeon: error: the following arguments are required: command"),
    ("surgeon extract identity.onnx", 2, ERR, "assay surgeon extract: error: the following arguments are required: -o/--output"),
    ("surgeon insert identity.onnx -o out.onnx", 2, ERR, "assay surgeon insert: error: the following arguments are required: --inputs, --outputs, --op"),
    ("surgeon sanitize identity.onnx --no-shape-inference --force-fallback-shape-inference -o out.onnx", 2, ERR, "assay surgeon sanitize: error: argument --force-fallback-shape-inference: not allowed with argument --no-shape-inference"),
    ("surgeon extract two.onnx --outputs q:auto -o out.onnx", 1, ERR, "[!] Tensor: q does not exist in the model [in $DIR/two.onnx]"),
    ("surgeon extract two.onnx --outputs h -o out.onnx", 1, ERR, "[!] --outputs: could not parse h. Expected name:dtype, as in y:float32 or y:auto."),
    ("surgeon extract two.onnx --inputs h:[1,2] -o out.onnx", 1, ERR, "[!] --inputs: could not understand data type: [1,2] (in h:[1,2]). Did you forget to specify a data type? Use one of float32, float16, bfloat16, int64, int32, bool and so on, or `auto`."),
    ("surgeon sanitize identity.onnx --override-input-shapes z:[1,2] -o out.onnx", 1, ERR, "[!] Tensor: z does not exist in the model [in $DIR/identity.onnx]"),
    ("surgeon sanitize identity.onnx --outputs z -o out.onnx", 1, ERR, "[!] The following outputs were not found in the model: {'z'} [in $DIR/identity.onnx]"),
    ("surgeon sanitize identity.onnx --cleanup -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("surgeon sanitize identity.onnx --cleanup -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("surgeon sanitize identity.onnx --cleanup -o identity.onnx/x", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("surgeon sanitize identity.onnx --cleanup --save-external-data ../weights -o out.onnx", 1, ERR, "[!] the external data path '../weights' must lie in the model's folder"),
    ("surgeon sanitize identity.onnx --num-passes 2 -o out.onnx", 0, OUT, "[W] Argument: '--num-passes' will be ignored since constant folding is not enabled."),
    ("surgeon sanitize unknown_op.onnx --fold-constants -o out.onnx", 0, OUT, "[I] Saving ONNX model to: out.onnx"),
    ("surgeon sanitize unknown_op.onnx --prove -o out.onnx", 1, ERR, "[!] the models could not be compared: the operator Frobnicate of domain 'ai.onnx' is unknown [at node 'n0' (Frobnicate)] [in $DIR/unknown_op.onnx]"),
    ("surgeon insert two.onnx --inputs y --outputs h --op F -o out.onnx", 1, ERR, "[!] the graph has a cycle: 'second' (Neg) <- (F) producing 'h' <- 'second' (Neg) [in $DIR/two.onnx]"),
]

TO_INPUT = [
    ("data", 2, ERR, "assay data: error: the following arguments are required: command"),
    ("data to-input", 2, ERR, "assay data to-input: error: the following arguments are required: paths, -o/--output"),
    ("data to-input gone.json -o merged.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("data to-input name.json folder -o merged.json", 1, ERR, "[!] no file of iterations was found in ['folder']"),
    ("data to-input name.json not.json -o merged.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("data to-input identity.onnx -o merged.json", 1, ERR, "[!] expected a JSON value [in identity.onnx, line 1, column 1]"),
    ("data to-input other.json -o merged.json", 1, ERR, "[!] the value is a Python int, not an array [in input 'a'] [at iteration 0] [in other.json]. " + ARRAYS),
    ("data to-input name.json -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("data to-input name.json -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("data to-input empty_list.json -o merged.json", 0, OUT, "[I] Saving input file containing 0 iteration(s) to merged.json"),
    ("data to-input empty_list.json name.json type.json -o merged.json", 0, OUT, "[I] Saving input file containing 1 iteration(s) to merged.json"),
]

TACTICS = [
    ("inspect", 2, ERR, "assay inspect: error: the following arguments are required: command"),
    ("inspect tactics", 2, ERR, "assay inspect tactics: error: the following arguments are required: tactic_replay"),
    ("inspect tactics gone.json", 1, ERR, "[!] cannot open gone.json: No such file or directory"),
    ("inspect tactics folder", 1, ERR, "[!] cannot read folder: it is a folder"),
    ("inspect tactics not.json", 1, ERR, "[!] expected a key in double quotes in a JSON object [in not.json, line 1, column 3]"),
    ("inspect tactics other.json", 1, ERR, "[!] Provided JSON cannot be decoded into a TacticReplayData.\n    Note: JSON was decoded into a <class 'collections.OrderedDict'>:\n    {\"a\": 1} [in other.json]"),
    ("inspect diff-tactics", 0, OUT, "[W] good does not exist, so nothing can be told about good tactics. Use --good to name others."),
    ("inspect diff-tactics --good other.json --bad folder", 0, OUT, "[W] other.json holds no tactic replay, so nothing can be told about good tactics. Use --good to name others."),
    ("inspect diff-tactics --good other.json --bad folder", 0, OUT, "[I] Could not determine potentially bad tactics. Try providing more tactic replay files if possible."),
]

PLUGIN = [
    ("plugin", 2, ERR, "assay plugin: error: the following arguments are required: command"),
    ("plugin match two.onnx", 2, ERR, "assay plugin match: error: the following arguments are required: --plugin-dir"),
    ("plugin match two.onnx --plugin-dir plugins --include both --exclude both", 2, ERR, "assay plugin match: error: argument --exclude: not allowed with argument --include"),
    ("plugin match two.onnx --plugin-dir gone", 1, ERR, "[!] --plugin-dir: there is no folder $DIR/gone."),
    ("plugin match two.onnx --plugin-dir folder", 1, ERR, "[!] --plugin-dir: no folder in $DIR/folder holds a pattern.yaml."),
    ("plugin match two.onnx --plugin-dir plugins --include bot", 1, ERR, "[!] --include: there is no plugin bot. Did you mean both?"),
    ("plugin list two.onnx --plugin-dir plugins --exclude zzz", 1, ERR, "[!] --exclude: there is no plugin zzz. There are ['both']."),
    ("plugin match two.onnx --plugin-dir damaged_plugins", 1, ERR, "[!] this is not YAML: did not find expected node content [in $DIR/damaged_plugins/broken/pattern.yaml, line 2]"),
    ("plugin match two.onnx --plugin-dir wrong_plugins", 1, ERR, "[!] the tensor 'z' is not defined: it is not an input, a constant or an output of a node before [in $DIR/wrong_plugins/wrong/pattern.yaml, line 6]"),
    ("plugin match gone.onnx --plugin-dir plugins", 1, ERR, "[!] cannot open gone.onnx: No such file or directory"),
    ("plugin match truncated.onnx --plugin-dir plugins", 1, ERR, "[!] the bytes are damaged at offset 4: a length reaches beyond its end [in $DIR/truncated.onnx]"),
    ("plugin match two.onnx --plugin-dir plugins -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("plugin match two.onnx --plugin-dir plugins -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("plugin match two.onnx --plugin-dir overlapping -o overlapping.yaml", 0, OUT, "[W] The match of neg that begins at node 'second' (Neg) is left out: node 'second' (Neg) belongs to a match of both already."),
    ("plugin list two.onnx --plugin-dir overlapping", 0, OUT, "[I] {'both': 1, 'neg': 0}"),
    ("plugin list two.onnx --plugin-dir overlapping --include neg both", 0, OUT, "[I] {'neg': 1, 'both': 0}"),
    ("plugin list two.onnx --plugin-dir plugins --seed 3", 0, OUT, "[W] --seed has no effect on plugins; it is ignored."),
    ("plugin list two.onnx --plugin-dir plugins --onnx-outputs zzz", 1, ERR, "[!] The following outputs were not found in the model: {'zzz'} [in $DIR/two.onnx]"),
    ("plugin replace two.onnx --plugin-dir plugins --config gone.yaml", 1, ERR, "[!] cannot open gone.yaml: No such file or directory"),
    ("plugin replace two.onnx --plugin-dir plugins --config no_plugin.yaml", 1, ERR, "[!] a plugin is a map, not a list [in no_plugin.yaml, line 1]"),
    ("plugin replace two.onnx --plugin-dir plugins --config no_yaml.yaml", 1, ERR, "[!] this is not YAML: found unexpected end of stream [in no_yaml.yaml, line 2]"),
    ("plugin replace two.onnx --plugin-dir plugins --config unknown_tensor.yaml", 1, ERR, "[!] the model has no tensor 'X', which is to be an input [at instance 0 of plugin both] [in unknown_tensor.yaml]. Did you mean 'x'?"),
    ("plugin replace two.onnx --plugin-dir plugins --config no_output.yaml", 1, ERR, "[!] the tensor 'x' is to be an output, but no node computes it [at instance 0 of plugin both] [in no_output.yaml]"),
    ("plugin replace two.onnx --plugin-dir plugins --config twice.yaml -o twice.onnx", 0, OUT, "[W] Instance 1 of both is left alone: it shares 'first' (Relu) with 'both_0' (Both)."),
    ("plugin replace two.onnx --plugin-dir plugins --config twice.yaml -o twice.onnx", 0, OUT, "[W] Warning: not all instances of both were replaced!"),
    ("plugin replace chain.onnx --plugin-dir plugins --config cycle.yaml", 1, ERR, "[!] the graph has a cycle: 'n1' (Neg) <- 'both_0' (Both) <- 'n1' (Neg) [in cycle.yaml]"),
    ("plugin list nested.onnxtxt --plugin-dir plugins", 0, OUT, "[I] {'both': 2}"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_branch.yaml -o in_branch.onnx", 0, OUT, "[I] replaced 2 instances of both plugin"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_no_graph.yaml", 1, ERR, "[!] Node: choise does not exist in the model [at instance 0 of plugin both] [in in_no_graph.yaml]. Did you mean 'choice'?"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_two_graphs.yaml", 1, ERR, "[!] the node 'choice' holds several subgraphs: name one of them, then_branch, else_branch, as in choice::then_branch::... [at instance 0 of plugin both] [in in_two_graphs.yaml]"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_graph_unknown.yaml", 1, ERR, "[!] the graph choice::then_branch has no tensor 'tt', which is to be an output [at instance 0 of plugin both] [in in_graph_unknown.yaml]. Did you mean 't'?"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_graph_outside.yaml", 1, ERR, "[!] the tensor 'z' is to be an output, but it is outside of the graph choice::then_branch, which can only use it [at instance 0 of plugin both] [in in_graph_outside.yaml]"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_graph_cycle.yaml", 1, ERR, "[!] the graph has a cycle: 'choice' (If) <- 'choice' (If) [in in_graph_cycle.yaml]"),
    ("plugin replace nested.onnxtxt --plugin-dir plugins --config in_replaced.yaml -o in_replaced.onnx", 0, OUT, "[W] Instance 1 of both is left alone: it lies inside 'choice' (If), which 'both_0' (Both) replaces."),
    ("plugin replace two.onnx --plugin-dir plugins --config good.yaml -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
]

CAPABILITY = [
    ("inspect capability", 2, ERR, "assay inspect capability: error: the following arguments are required: model_file"),
    ("inspect capability gone.onnx", 1, OUT, "[W] Model path does not exist: gone.onnx"),
    ("inspect capability gone.onnx", 1, ERR, "[!] cannot open gone.onnx: No such file or directory"),
    ("inspect capability empty.onnx", 1, ERR, "[!] the file is empty [in $DIR/empty.onnx]"),
    ("inspect capability random.onnx", 1, ERR, "[!] the bytes are damaged at offset 1: an unknown wire type [in $DIR/random.onnx]"),
    ("inspect capability cycle.onnx", 1, ERR, "[!] the graph has a cycle: 'n0' (Relu) <- 'n1' (Relu) <- 'n0' (Relu) [in $DIR/cycle.onnx]"),
    ("inspect capability two.onnx", 0, OUT, "[I] Graph is fully supported by the engine; Will not report errors."),
    ("inspect capability two.onnx --with-partitioning", 0, OUT, "[I] Graph is fully supported by the engine; Will not generate subgraphs."),
    ("inspect capability dynamic.onnx", 0, OUT, "[W] Input tensor: x | Will plan for shape: (1, 2).\n    If this is not how the model is used, give --input-shapes."),
    ("inspect capability dynamic.onnx --input-shapes z:[1]", 1, ERR, "[!] the model has no input 'z'; its inputs are 'x'"),
    ("inspect capability unknown_op.onnx -o dumps", 0, OUT, "[I] ===== Summary =====\n    Stack trace  | Operator   | Node  | Reason                                                \n    -------------------------------------------------------------------------------------------\n                 | Frobnicate | n0    | the operator Frobnicate of domain 'ai.onnx' is unknown"),
    ("inspect capability unknown_domain.onnx -o dumps --with-partitioning", 0, OUT, "[I] Saving ONNX model to: dumps/unsupported_subgraph-nodes-0-0.onnx"),
    ("inspect capability unknown_op.onnx -o identity.onnx/x", 1, ERR, "[!] cannot create the folder identity.onnx/x: Not a directory"),
    ("inspect capability unknown_op.onnx --with-partitioning -o identity.onnx", 1, ERR, "[!] cannot make the folder identity.onnx: it is a regular file"),
    ("inspect capability unknown_op.onnx --external-data-size-threshold 16MB", 1, ERR, "[!] Could not convert 16MB to a number of bytes. Please use either an integer (e.g. 16000000), scientific notation (e.g. 16e6), or a number with a valid suffix: K, M, or G (e.g. 16M)."),
]

SCRIPTS = [
    ("template onnx-gs identity.onnx", 2, ERR, "assay template onnx-gs: error: the following arguments are required: -o/--output"),
    ("template onnx-gs -o script.py", 2, ERR, "assay template onnx-gs: error: the following arguments are required: model_file"),
    ("template onnx-gs gone.onnx -o script.py", 0, OUT, "[W] Model path does not exist: gone.onnx"),
    ("template onnx-gs identity.onnx -o folder", 1, ERR, "[!] cannot write folder: it is a folder"),
    ("template onnx-gs identity.onnx -o identity.onnx/x.py", 1, ERR, "[!] cannot create the folder identity.onnx: Not a directory"),
    ("template onnx-gs identity.onnx -o script.py --input-shapes x:[1]", 0, OUT, "[W] --input-shapes has no effect on the script; it is ignored."),
    ("template onnx-gs identity.onnx -o script.py --language java", 2, ERR, "assay template onnx-gs: error: argument --language: invalid choice: 'java' (choose from 'python', 'cpp')"),
    ("template trt-network -o script.cpp --strongly-typed", 1, ERR, "[!] --strongly-typed is a setting of TensorRT, and the C++ form is for the engine. Leave it out, or use --language python."),
    ("template trt-network -o script.py --plugin-instancenorm", 0, OUT, "[W] --plugin-instancenorm concerns a model that is parsed, and none is given; it is ignored."),
    ("template trt-network -o script.py --mark-debug x", 1, ERR, "[!] --mark-debug is not available yet: this build does not put it into the script. Write it into the function load_network."),
    ("template trt-network model.engine -o script.py", 1, ERR, "[!] $DIR/model.engine is a model of type engine, and this build reads ONNX models only. Give the ONNX model that the plan was built from."),
    ("template trt-config -o script.py --trt-min-shapes x:3", 1, ERR, "[!] --trt-min-shapes: could not parse x:3. Expected name:[extents], as in image:[1,3,224,224]."),
    ("template trt-config -o script.py --trt-min-shapes x:[1] --trt-max-shapes x:[2] y:[2]", 1, ERR, "[!] Mismatch in input names between minimum shapes (['x']) and maximum shapes (['x', 'y'])"),
    ("template trt-config -o script.py --input-shapes x:[n,2]", 0, OUT, "[W] Input tensor: x | For TensorRT profile, overriding dynamic shape: BoundedShape(['n', 2], min=None, max=None) to: [1, 2]"),
    ("template trt-config -o script.py --seed 3", 0, OUT, "[W] --seed has no effect on the script, which calibrates nothing; it is ignored."),
    ("template trt-config -o script.cpp --fp16", 1, ERR, "[!] --fp16 is a setting of TensorRT, and the C++ form is for the engine. Leave it out, or use --language python."),
]

STRIPPED = "its data were stripped (its doc string says so: TRT_WEIGHTLESS) [in initializer 'w'] [in $DIR/stripped.onnx]. Give the model random weights with `assay surgeon weight-reconstruct`."
HALF_STRIPPED = "[!] it has 4 bytes of data, but float32 of shape (1, 2) needs 8 [in initializer 'w'] [in $DIR/stripped_half.onnx]"
WEIGHTS = [
    ("surgeon prune two.onnx", 2, ERR, "assay surgeon prune: error: the following arguments are required: -o/--output"),
    ("surgeon weight-strip -o out.onnx", 2, ERR, "assay surgeon weight-strip: error: the following arguments are required: model_file"),
    ("surgeon weight-strip two.onnx -o out.onnx --exclude-list gone.txt", 1, ERR, "[!] cannot open gone.txt: No such file or directory"),
    ("surgeon weight-strip two.onnx -o out.onnx --exclude-list keep.txt", 0, OUT, "[W] The following weights provided by the user to skip stripping were not found in the model: {'nowhere', 'w'}."),
    ("surgeon weight-reconstruct stripped.onnx -o out.onnx --seed -1", 1, ERR, "[!] --seed: -1 is too small; it must be at least 0."),
    ("surgeon weight-reconstruct stripped.onnx -o out.onnx", 0, OUT, "[I] Finished reconstructing 1 weights"),
    ("surgeon weight-reconstruct stripped.onnx -o /dev/full", 1, ERR, "[!] cannot write /dev/full: No space left on device"),
    ("surgeon weight-reconstruct stripped_absurd.onnx -o out.onnx", 1, ERR, "[!] the shape (1099511627776, 1099511627776) has more elements than 64 bits can count [in initializer 'w'] [in $DIR/stripped_absurd.onnx]"),
    ("surgeon weight-reconstruct stripped_half.onnx -o out.onnx", 1, ERR, HALF_STRIPPED),
    ("surgeon weight-strip stripped.onnx -o out.onnx", 0, OUT, "[I] Finished stripping 0 weights"),
    ("run stripped.onnx --ref", 1, ERR, "[!] " + STRIPPED),
    ("run stripped.onnx --engine", 1, ERR, "[!] " + STRIPPED),
    ("inspect model stripped.onnx --show weights", 0, OUT, "    Initializer | w [dtype=float32, shape=[1, 2]] | Values:\n        <error: failed to load weights>"),
]

REPAIR = ". Repair the node; `assay check lint` lists all that break a rule."
MISSING_INPUT = "[!] Add-14 takes 2 inputs, but 1 are given [at node (Add) producing 'y'] [in $DIR/missing_input.onnxtxt]" + REPAIR
CONVERSION = [
    ("surgeon convert-opset identity.onnx", 1, ERR, "[!] Convert to what? Give --to, --ir-version, or both."),
    ("surgeon convert-opset identity.onnx --ir-version 99", 1, ERR, "[!] 99 is not an IR version that this build writes: they go from 3 to 14 [in identity.onnx]"),
    ("surgeon convert-opset identity.onnx --ir-version 3 -o out.onnx", 0, OUT, "[W] Opset 13 of ai.onnx came with IR version 7; a reader may expect that."),
    ("surgeon convert-opset identity.onnx --to x", 2, ERR, "assay surgeon convert-opset: error: argument --to: invalid int value: 'x'"),
    ("surgeon sanitize missing_input.onnxtxt --fold-constants -o out.onnx", 1, ERR, MISSING_INPUT),
    ("surgeon sanitize missing_input.onnxtxt --simplify -o out.onnx", 1, ERR, MISSING_INPUT),
    ("surgeon sanitize missing_in_function.onnxtxt --fold-constants -o out.onnx", 1, ERR, "[!] Neg-13 takes 1 inputs, but 0 are given [at node (Neg) producing 'b'] [in function 'f'] [in $DIR/missing_in_function.onnxtxt]" + REPAIR),
    ("surgeon sanitize missing_in_branch.onnxtxt --simplify -o out.onnx", 1, ERR, "[!] Add-14 takes 2 inputs, but 1 are given [at node (Add) producing 'p'] [in $DIR/missing_in_branch.onnxtxt]" + REPAIR),
    ("surgeon sanitize left_out.onnxtxt --fold-constants -o out.onnx", 1, ERR, "[!] Unique-11 needs its inputs 'X', which is left out [at node (Unique) producing 'y'] [in $DIR/left_out.onnxtxt]" + REPAIR),
    ("surgeon sanitize missing_attribute.onnxtxt --fold-constants -o out.onnx", 1, ERR, "[!] Cast-13 needs its attribute 'to' [at node (Cast) producing 'y'] [in $DIR/missing_attribute.onnxtxt]" + REPAIR),
    ("surgeon sanitize missing_input.onnxtxt --cleanup -o out.onnx", 0, OUT, "[W] Shape inference stops at node (Add) producing 'y': Add-14 takes 2 inputs, but 1 are given [at node (Add) producing 'y']"),
    ("surgeon sanitize foreign_node.onnxtxt --simplify -o out.onnx", 0, OUT, "[I] Saving ONNX model to: out.onnx"),
    ("surgeon convert-opset missing_input.onnxtxt --to 19", 1, ERR, "[!] Add-14 takes 2 inputs, but 1 are given [at node (Add) producing 'y'] [in missing_input.onnxtxt]" + REPAIR),
    ("run missing_in_branch.onnxtxt --ref", 1, ERR, "[!] Add-14 takes 2 inputs, but 1 are given [at node (Add) producing 'p'] [at node (If) producing 'y'] [in $DIR/missing_in_branch.onnxtxt]"),
    ("surgeon convert-opset list_of_lists.onnxtxt --to 13", 1, ERR, "[!] input 1 must be a vector, found shape (0, 4, 3, 2) [at node (CenterCropPad) producing 'y'] [in list_of_lists.onnxtxt]"),
    ("surgeon convert-opset more_outputs.onnxtxt --to 19", 1, ERR, "[!] the function 'f' has 0 outputs, but the call has 1 [at node (l::f) producing 'y'] [in more_outputs.onnxtxt]" + REPAIR),
    ("run more_outputs.onnxtxt --engine", 1, ERR, "[!] the function 'f' has 0 outputs, but the call has 1 [at node (l::f) producing 'y'] [in $DIR/more_outputs.onnxtxt]"),
    ("run more_outputs.onnxtxt --ref", 1, ERR, "[!] the function 'f' has 0 outputs, but the call has 1 [at node (l::f) producing 'y'] [in $DIR/more_outputs.onnxtxt]"),
    ("surgeon convert-opset too_many_key_heads.onnxtxt --to 19", 1, ERR, "[!] Q has 2 heads, which the 4 of K do not divide [at node (Attention) producing 'y'] [in too_many_key_heads.onnxtxt]"),
    ("run growing_loop.onnxtxt --ref --memory-limit 8M -v", 1, ERR, "[!] an output of shape (520, 1000) and type float64 is larger than the $BYTES bytes that there are [at node (Loop) producing 'y'] [in $DIR/growing_loop.onnxtxt]"),
    ("run wrong_perm.onnxtxt --engine", 1, ERR, "[!] perm names the axis -1 [at node (Transpose) producing 'y'] [in $DIR/wrong_perm.onnxtxt]"),
    ("surgeon sanitize wrong_perm.onnxtxt --simplify -o out.onnx", 0, OUT, "[W] Shape inference stops at node (Transpose) producing 'y': perm names the axis -1 [at node (Transpose) producing 'y']"),
    ("surgeon sanitize wrong_axes.onnxtxt --simplify -o out.onnx", 0, OUT, "[I] Saving ONNX model to: out.onnx"),
    ("run repeated_string.onnxtxt --ref --memory-limit 100M -v", 1, ERR, "[!] there is not enough memory for what the node asks for [at node (Expand) producing 'y'] [in $DIR/repeated_string.onnxtxt]. The option --memory-limit changes how much there may be."),
    ("surgeon sanitize repeated_string.onnxtxt --fold-constants --memory-limit 100M -o out.onnx", 0, OUT, "[W] Not folded: (Expand) producing 'y': there is not enough memory for what the node asks for [at node (Expand) producing 'y']. The option --memory-limit changes how much there may be."),
    ("surgeon convert-opset identity.onnx --to 0", 1, ERR, "[!] 0 is not an opset of ai.onnx: this build knows 1 to 28 [in identity.onnx]"),
    ("surgeon convert-opset identity.onnx --to 1000", 1, ERR, "[!] 1000 is not an opset of ai.onnx: this build knows 1 to 28 [in identity.onnx]"),
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

# What inference proves impossible, and parts that cannot be.
REMEDY = "[in $DIR/typed.onnx]. Give what that node can take, or leave it to inference."
OVERRIDE = "[!] the shapes that --override-input-shapes gives contradict the graph: "
CUT = "[!] the shapes and types that --inputs and --outputs give contradict the graph: "
NEEDS_X = "[!] the outputs cannot be computed from these inputs alone; they also need 'x' (used by {}) [in $DIR/{}]. Add these tensors, or tensors between them and the outputs, to the inputs."
IMPOSSIBLE = [
    ("surgeon sanitize typed.onnx --override-input-shapes x:[1,3] -o out.onnx", 1, ERR, OVERRIDE + "cannot reshape (1, 5) to (1, 4) [at node 'reshape' (Reshape)] " + REMEDY),
    ("surgeon sanitize typed.onnx --override-input-shapes x:[1,3] --no-shape-inference -o out.onnx", 1, ERR, OVERRIDE + "cannot reshape (1, 5) to (1, 4) [at node 'reshape' (Reshape)] " + REMEDY),
    ("surgeon sanitize typed.onnx --override-input-shapes x:[1,2,3] -o out.onnx", 1, ERR, OVERRIDE + "the inputs have ranks 3 and 2 [at node 'concat' (Concat)] " + REMEDY),
    ("surgeon sanitize typed.onnx --override-input-shapes x:[n,2] -o out.onnx", 0, OUT, "[I] Overriding input shapes to:\n    {x [dtype=float32, shape=('n', 2)]}"),
    ("surgeon extract typed.onnx --inputs r:[1,7]:auto --outputs y:auto -o out.onnx", 1, ERR, CUT + "the inner extents 7 and 4 differ [at node 'product' (MatMul)] " + REMEDY),
    ("surgeon extract typed.onnx --inputs r:auto:int64 --outputs y:auto -o out.onnx", 1, ERR, CUT + "the inputs of MatMul-13 that share type T differ: 'w' is float, another is int64 [at node 'product' (MatMul)] " + REMEDY),
    ("surgeon extract typed.onnx --inputs r:auto:auto --outputs y:int64 -o out.onnx", 1, ERR, CUT + "the output 'y' is to be int64, but node 'transpose' (Transpose) gives float32 " + REMEDY),
    ("surgeon extract chain.onnx --inputs b:[5,5]:auto --outputs c:auto -o out.onnx", 0, OUT, "    {c [dtype=float32, shape=(5, 5)]}"),
    ("surgeon extract two.onnx --inputs y:auto:auto --outputs h:auto -o out.onnx", 1, ERR, NEEDS_X.format("'first' (Relu)", "two.onnx")),
    ("surgeon extract chain.onnx --inputs b:auto:auto --outputs a:auto c:auto -o out.onnx", 1, ERR, NEEDS_X.format("'n0' (Relu)", "chain.onnx")),
    ("surgeon extract typed.onnx --inputs w:auto:auto --outputs y:auto -o out.onnx", 1, ERR, NEEDS_X.format("'concat' (Concat)", "typed.onnx")),
    ("surgeon extract unknown_op.onnx --force-fallback-shape-inference --outputs y:auto -o out.onnx", 1, ERR, "[!] the operator Frobnicate of domain 'ai.onnx' is unknown [at node 'n0' (Frobnicate)] [in $DIR/unknown_op.onnx]"),
    ("surgeon insert chain.onnx --inputs b --outputs a --op F -o out.onnx", 1, ERR, "[!] the graph has a cycle: 'n1' (Neg) <- (F) producing 'a' <- 'n1' (Neg) [in $DIR/chain.onnx]"),
    ("inspect capability typed.onnx --input-shapes x:[1,3]", 1, ERR, "[!] the shapes that --input-shapes gives contradict the graph: cannot reshape (1, 5) to (1, 4) [at node 'reshape' (Reshape)] " + REMEDY),
]

# Whatever names a file to be read: pipes and devices are neither waited for nor read.
PIPE = "[!] cannot read pipe.json: it is a pipe. Write what comes out of it to a file, and name that."
SPECIAL_FILES = [
    ("inspect data pipe.json", 1, ERR, PIPE),
    ("inspect data /dev/zero", 1, ERR, "[!] cannot read /dev/zero: it is a device"),
    ("inspect tactics pipe.json", 1, ERR, PIPE),
    ("data to-input pipe.json -o out.json", 1, ERR, PIPE),
    ("run identity.onnx --ref --load-inputs pipe.json", 1, ERR, PIPE),
    ("run identity.onnx --ref --load-outputs pipe.json", 1, ERR, PIPE),
    ("run two.onnx --ref --save-outputs pipe.json", 1, ERR, "[!] cannot write pipe.json: it is a pipe or a socket, and nobody reads it"),
    ("run two.onnx --ref --log-file pipe.json", 1, ERR, "[!] cannot write the log file pipe.json: it is a pipe or a socket, and nobody reads it"),
    ("plugin replace two.onnx --plugin-dir plugins --config pipe.json -o out.onnx", 1, ERR, PIPE),
    ("surgeon weight-strip typed.onnx --exclude-list pipe.json -o out.onnx", 1, ERR, PIPE),
    ("surgeon sanitize typed.onnx -o /dev/null --save-external-data data.bin", 1, ERR, "[!] cannot write /dev/null with external data: it is not a regular file, so that nothing can lie beside it"),
    ("surgeon sanitize typed.onnx -o out.onnx --save-external-data out.onnx", 1, ERR, "[!] the external data path 'out.onnx' is that of the model itself"),
    ("surgeon sanitize typed.onnx -o out.onnx --save-external-data folder.bin --external-data-size-threshold 0", 1, ERR, "[!] cannot write folder.bin: it is a folder"),
]

POINTER = "is a Git LFS pointer, not the file of 46747062 bytes that it stands for"
FETCH = "Fetch the file: run `git lfs install` and `git lfs pull` in its repository."
PAGE = "is a web page (HTML), which a server sent in the place of the file"
STAND_INS = [
    ("run pointer.onnx --ref", 1, ERR, f"[!] $DIR/pointer.onnx {POINTER}. {FETCH}"),
    ("inspect model pointer.onnx", 1, ERR, f"[!] $DIR/pointer.onnx {POINTER}. {FETCH}"),
    ("check lint pointer.onnx", 1, ERR, f"[!] $DIR/pointer.onnx {POINTER}. {FETCH}"),
    ("surgeon sanitize pointer.onnx -o out.onnx", 1, ERR, f"[!] $DIR/pointer.onnx {POINTER}. {FETCH}"),
    ("run pointer.plan --trt", 1, ERR, f"[!] $DIR/pointer.plan {POINTER} [in $DIR/pointer.plan]. {FETCH}"),
    ("run identity.onnx --ref --load-inputs pointer.json", 1, ERR, f"[!] pointer.json {POINTER}. {FETCH}"),
    ("run identity.onnx --trt --load-timing-cache pointer.json", 1, ERR, f"[!] pointer.json {POINTER} [in $DIR/identity.onnx]. {FETCH}"),
    ("run pointer_outside.onnxtxt --ref", 1, ERR, f"[!] $DIR/pointer.bin {POINTER} [in initializer 'w'] [in $DIR/pointer_outside.onnxtxt]. {FETCH}"),
    ("run page.onnx --ref", 1, ERR, f"[!] $DIR/page.onnx {PAGE}. Download the file itself: on GitHub and Hugging Face that is the link \"raw\" or \"download\", not the page that shows it."),
    ("run packed.onnx --ref", 1, ERR, "[!] this is not an ONNX model, but packed with gzip [in $DIR/packed.onnx]. Unpack it and name the model inside."),
    ("run torch.onnx --ref", 1, ERR, "[!] this is not an ONNX model, but a ZIP archive (or a file of PyTorch or NumPy, which are such archives) [in $DIR/torch.onnx]. Unpack an archive and name the model inside; export a PyTorch model with torch.onnx.export."),
]

FORMS = [
    ("run caffe.prototxt --ref", 1, ERR, "[!] $DIR/caffe.prototxt is a model of type caffe, and this build reads ONNX models only. Convert it to ONNX, or say --model-type onnx if it is one."),
    ("run misspelt.textproto --ref", 1, ERR, "[!] GraphProto has no field 'nodes'. Did you mean 'node'? [at line 2, column 9: graph { nodes { op_type: \"Neg\" } }] [in $DIR/misspelt.textproto]"),
    ("run misspelt.json --ref", 1, ERR, "[!] NodeProto has no field 'opTyp'. Did you mean 'opType'? [in the JSON text, line 1, column 22] [in $DIR/misspelt.json]"),
    ("run other.json --ref", 1, ERR, "[!] ModelProto has no field 'a' [in the JSON text, line 1, column 2] [in $DIR/other.json]"),
]

TIMING_CACHES = [
    ("run identity.onnx --trt --load-timing-cache empty.cache", 0, OUT, "[W] The timing cache empty.cache is an empty file: no times are known."),
    ("run identity.onnx --trt --load-timing-cache foreign.cache", 1, ERR, "[!] foreign.cache is not a timing cache of assay, which is a JSON document [in $DIR/identity.onnx]. Those of TensorRT hold times of its own kernels. Name another file; it is made if it does not exist."),
    ("convert identity.onnx -o out.plan --save-timing-cache foreign.cache", 1, ERR, "[!] foreign.cache is not a timing cache of assay, which is a JSON document. Those of TensorRT hold times of its own kernels. Name another file; it is made if it does not exist."),
    ("bench identity.onnx --timing-cache foreign.cache", 1, ERR, "[!] foreign.cache is not a timing cache of assay, which is a JSON document. Those of TensorRT hold times of its own kernels. Name another file; it is made if it does not exist."),
]

WRITTEN_BY_HAND = [
    ("run identity.onnx --ref --load-inputs np_class.json", 1, ERR, "[!] Could not decode serialized type: np.ndarray. This could be because a required module is missing.  [in input 'x'] [at iteration 0] [in np_class.json]. NumPy's arrays are of class 'ndarray'. " + ARRAYS),
]

CASES = STAND_INS + FORMS + TIMING_CACHES + WRITTEN_BY_HAND + SHARDING + USAGE + REFUSED + VALUES + MODELS + TEXTS + DATA + CONFORMANCE + READING + INSPECT + SURGEON + TO_INPUT + TACTICS + PLUGIN + CAPABILITY + SCRIPTS + WEIGHTS + LINT + CONVERSION + IMPOSSIBLE + SPECIAL_FILES

# Lines that hold times, as regular expressions: (command, exit code, pattern on stdout).
PATTERNS = [
    ("run negated.textproto --engine --ref", 0, r"Accuracy Summary \| .* \| Pass Rate: 100\.00%$"),
    ("run negated.prototxt --engine --ref", 0, r"Accuracy Summary \| .* \| Pass Rate: 100\.00%$"),
    ("run negated.json --engine --ref", 0, r"Accuracy Summary \| .* \| Pass Rate: 100\.00%$"),
    ("check lint negated.json --no-onnxrt", 0, r"PASSED \| Runtime"),
    ("run identity.onnx --trt --sequential-runners -v", 0, r"Average inference time: \S+ ms\. \| run by the engine of assay, not by TensorRT$"),
    ("run identity.onnx --trt --engine", 0, r"Accuracy Summary \| .* \| Pass Rate: 100\.00% \| trt-runner-N0-\S+: run by the engine of assay, not by TensorRT$"),
    ("run identity.onnx --engine --ref", 0, r"Accuracy Summary \| .* \| Pass Rate: 100\.00%$"),
    ("run identity.onnx --ref --verbosity INFO nonsense:VERBOSE", 0, r"\[W\] --verbosity: no message comes from 'nonsense'\. A path is a folder"),
    ("run identity.onnx --ref --verbosity INFO backend:VERBOSE", 0, r"\| Input metadata is: \{x \[dtype=float32, shape=\(1, 2\)\]\}$"),
    ("run branches.onnxtxt --ref --onnx-outputs choice::then_branch::h", 0, r"^\[I\] PASSED \| Runtime: "),
]
