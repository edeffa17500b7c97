/* The C interface between assay and its extension modules: shared libraries that add runners, loaders,
 * operators, passes, tactics, options, comparisons and commands. C++ modules use the classes of extension.h,
 * which stand on it; a module in another language needs this file alone. docs/guide/extensions.md is the
 * tutorial, and holds the rules.
 *
 * A module exports two symbols: `assay_extension_info` (AssayExtensionInfo) and `assay_extension_register`
 * (AssayRegister). The host reads the first, and calls the second once if it knows the module's version of
 * the interface.
 *
 * Versions: ASSAY_EXTENSION_ABI grows with every addition. Structures only grow, at their end; each begins
 * with its size as its maker knew it, and what lies beyond is as if it were zero. So a host takes every
 * module of its own version or an older one, and refuses newer ones.
 *
 * Errors: a callback returns 0, or something else after it has said why with AssayHost::set_error; nothing
 * may be thrown through it. Host functions that return a pointer return null, those that return int32_t a
 * negative number, when they fail; AssayHost::error says why. An error holds until the thread's next one.
 *
 * Memory: what the host hands to a callback is valid until that returns, and what a module registers until
 * the program ends, unless it says otherwise. Text is UTF-8. Callbacks of one session or one plugin are never
 * called from two threads at once; those of different ones may be.
 */
#ifndef ASSAY_EXTENSION_ABI_H
#define ASSAY_EXTENSION_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_EXTENSION_ABI 3

/* ---- Values ---- */

typedef struct AssayText {
  const char* data; /* need not end with a zero */
  uint64_t length;
} AssayText;

/* A dense, row-major tensor. */
typedef struct AssayTensor {
  int32_t dtype; /* ONNX's TensorProto.DataType */
  int32_t rank;
  const int64_t* dims;
  /* Elements, aligned for their type; those of less than a byte packed as ONNX packs them; strings: AssayText
   * for each. Null: the tensor is left out (an optional input). */
  const void* data;
  uint64_t bytes; /* strings: of the AssayTexts */
} AssayTensor;

typedef struct AssayNamedTensor {
  const char* name;
  AssayTensor tensor;
} AssayNamedTensor;

/* Things of the host. */
typedef struct AssayModel AssayModel;
typedef struct AssayGraph AssayGraph;
typedef struct AssayNode AssayNode;
typedef struct AssayValue AssayValue;
typedef struct AssayArgs AssayArgs;               /* what the command line said */
typedef struct AssayOutputs AssayOutputs;         /* takes tensors */
typedef struct AssayTensorInfos AssayTensorInfos; /* takes names and types */
typedef struct AssayBytes AssayBytes;             /* takes bytes */
typedef struct AssayInfer AssayInfer;             /* a node whose types are inferred */
typedef struct AssayEval AssayEval;               /* a node that is evaluated */
typedef struct AssayWays AssayWays;               /* takes the ways in which a tactic can run a node */
typedef struct AssayRegistrar AssayRegistrar;     /* takes what a module adds */

enum { ASSAY_EXTRA_VERBOSE = 10, ASSAY_VERBOSE = 20, ASSAY_INFO = 30, ASSAY_WARNING = 40, ASSAY_ERROR = 50 };

/* An extent that is not known. */
#define ASSAY_UNKNOWN (-1)

/* ---- What the host does for modules ---- */

typedef struct AssayHost {
  uint64_t size;
  uint32_t abi; /* ASSAY_EXTENSION_ABI of the host */
  uint32_t reserved;
  const char* version; /* of assay */

  void (*set_error)(const char* text);
  const char* (*error)(void);
  void (*log)(int32_t severity, const char* text);

  /* Memory for output `index` (by number) or `name`, to be filled before the callback returns. Not for
   * strings. */
  void* (*give)(AssayOutputs*, uint64_t index, int32_t dtype, int32_t rank, const int64_t* dims);
  void* (*give_named)(AssayOutputs*, const char* name, int32_t dtype, int32_t rank, const int64_t* dims);
  /* The elements are copied. `name` null: by number. */
  int32_t (*give_strings)(AssayOutputs*, uint64_t index, const char* name, int32_t rank, const int64_t* dims,
                          const AssayText* elements);
  /* Appends an input or output of a session. `rank` ASSAY_UNKNOWN: not known; extents may be ASSAY_UNKNOWN.
   */
  int32_t (*add_tensor_info)(AssayTensorInfos*, int32_t is_input, const char* name, int32_t dtype,
                             int32_t rank, const int64_t* dims);
  int32_t (*append)(AssayBytes*, const void* data, uint64_t size);

  /* The options of the command line, by their first name. 1: given; 0: not. The last word of an option that
   * was given several times. An option that the command does not have fails. */
  int32_t (*has_option)(const AssayArgs*, const char* name);
  int32_t (*option_text)(const AssayArgs*, const char* name, AssayText* value);
  int32_t (*option_integer)(const AssayArgs*, const char* name, int64_t* value);
  int32_t (*option_number)(const AssayArgs*, const char* name, double* value);
  int32_t (*option_word)(const AssayArgs*, const char* name, uint64_t index,
                         AssayText* value); /* of options with many */

  /* Models. Those that a module loads, parses or copies are its own, to be released; it may change no other,
   * but where a callback says so. */
  AssayModel* (*load_model)(const char* path);
  AssayModel* (*parse_model)(const void* data, uint64_t size);
  AssayModel* (*copy_model)(const AssayModel*);
  void (*release_model)(AssayModel*);
  int32_t (*save_model)(const AssayModel*, const char* path);
  /* The model as ONNX's message, all weights inside, those of external files included. Fails beyond 2 GB,
   * where no reader of the message goes: save_model() writes external data then. */
  int32_t (*serialize_model)(const AssayModel*, AssayBytes*);
  int64_t (*opset)(const AssayModel*, const char* domain); /* 0: not imported */
  int32_t (*set_opset)(AssayModel*, const char* domain, int64_t version);
  AssayGraph* (*main_graph)(const AssayModel*);
  int32_t (*infer_shapes)(AssayModel*);
  int32_t (*clean_up)(AssayModel*); /* removes what nothing needs, and sorts */

  /* Graphs. Positions of nodes and values hold until the graph is changed. */
  const char* (*graph_name)(const AssayGraph*);
  int32_t (*set_graph_name)(AssayGraph*, const char* name);
  uint64_t (*node_count)(const AssayGraph*);
  AssayNode* (*node_at)(const AssayGraph*, uint64_t index);
  uint64_t (*graph_input_count)(const AssayGraph*);
  AssayValue* (*graph_input)(const AssayGraph*, uint64_t index);
  uint64_t (*graph_output_count)(const AssayGraph*);
  AssayValue* (*graph_output)(const AssayGraph*, uint64_t index);
  int32_t (*set_graph_outputs)(AssayGraph*, AssayValue* const* values, uint64_t count);
  AssayValue* (*find_value)(const AssayGraph*, const char* name); /* null and no error: there is none */
  AssayValue* (*add_value)(AssayGraph*, const char* name);        /* made unique */
  AssayValue* (*add_graph_input)(AssayGraph*, const char* name, int32_t dtype, int32_t rank,
                                 const int64_t* dims);
  AssayValue* (*add_constant)(AssayGraph*, const char* name, const AssayTensor*); /* copied */
  AssayNode* (*add_node)(AssayGraph*, const char* op_type, const char* domain, const char* name,
                         AssayValue* const* inputs, uint64_t input_count, AssayValue* const* outputs,
                         uint64_t output_count);
  int32_t (*remove_node)(AssayNode*);
  int32_t (*replace_uses)(AssayValue* from, AssayValue* to);

  const char* (*node_name)(const AssayNode*);
  const char* (*node_op_type)(const AssayNode*);
  const char* (*node_domain)(const AssayNode*);
  int32_t (*set_node_name)(AssayNode*, const char*);
  int32_t (*set_node_op_type)(AssayNode*, const char* op_type, const char* domain);
  uint64_t (*node_input_count)(const AssayNode*);
  AssayValue* (*node_input)(const AssayNode*, uint64_t index); /* null and no error: left out */
  int32_t (*set_node_inputs)(AssayNode*, AssayValue* const*, uint64_t count);
  uint64_t (*node_output_count)(const AssayNode*);
  AssayValue* (*node_output)(const AssayNode*, uint64_t index);
  int32_t (*set_node_outputs)(AssayNode*, AssayValue* const*, uint64_t count);

  /* Attributes: 1: there; 0: not. Nodes of an operator with a schema that are inferred or evaluated (below)
   * show the schema's defaults, too. Lists: `count` gets the length, `values` null: only that. */
  uint64_t (*attribute_count)(const AssayNode*);
  const char* (*attribute_name)(const AssayNode*, uint64_t index);
  int32_t (*attribute_integer)(const AssayNode*, const char* name, int64_t*);
  int32_t (*attribute_float)(const AssayNode*, const char* name, double*);
  int32_t (*attribute_text)(const AssayNode*, const char* name, AssayText*);
  int32_t (*attribute_integers)(const AssayNode*, const char* name, int64_t* values, uint64_t* count);
  int32_t (*attribute_floats)(const AssayNode*, const char* name, double* values, uint64_t* count);
  int32_t (*attribute_tensor)(const AssayNode*, const char* name, AssayTensor*);
  AssayGraph* (*attribute_graph)(const AssayNode*, const char* name); /* null and no error: there is none */
  int32_t (*set_attribute_integer)(AssayNode*, const char* name, int64_t);
  int32_t (*set_attribute_float)(AssayNode*, const char* name, double);
  int32_t (*set_attribute_text)(AssayNode*, const char* name, AssayText);
  int32_t (*set_attribute_integers)(AssayNode*, const char* name, const int64_t*, uint64_t count);
  int32_t (*set_attribute_floats)(AssayNode*, const char* name, const double*, uint64_t count);
  int32_t (*set_attribute_tensor)(AssayNode*, const char* name, const AssayTensor*);
  int32_t (*remove_attribute)(AssayNode*, const char* name);

  const char* (*value_name)(const AssayValue*);
  int32_t (*set_value_name)(AssayValue*, const char*);
  int32_t (*value_dtype)(const AssayValue*);              /* 0: not known, or no tensor */
  int32_t (*value_rank)(const AssayValue*);               /* or ASSAY_UNKNOWN */
  int64_t (*value_dim)(const AssayValue*, uint64_t axis); /* or ASSAY_UNKNOWN */
  int32_t (*set_value_type)(AssayValue*, int32_t dtype, int32_t rank, const int64_t* dims);
  int32_t (*value_is_constant)(const AssayValue*);
  int32_t (*value_tensor)(const AssayValue*,
                          AssayTensor*);           /* 1: its data; 0: it has none. Valid while the model is */
  AssayNode* (*value_producer)(const AssayValue*); /* null and no error: there is none */
  uint64_t (*value_consumer_count)(const AssayValue*);
  AssayNode* (*value_consumer)(const AssayValue*, uint64_t index);

  /* A node that is inferred. */
  const AssayNode* (*infer_node)(const AssayInfer*);
  int32_t (*infer_input)(const AssayInfer*, uint64_t index, int32_t* dtype, int32_t* rank,
                         const int64_t** dims); /* 1: a tensor */
  int32_t (*infer_input_value)(const AssayInfer*, uint64_t index,
                               AssayTensor*); /* 1: its elements are known now */
  int32_t (*infer_set_output)(AssayInfer*, uint64_t index, int32_t dtype, int32_t rank, const int64_t* dims);

  /* A node that is evaluated. */
  const AssayNode* (*eval_node)(const AssayEval*);
  uint64_t (*eval_input_count)(const AssayEval*);
  int32_t (*eval_input)(const AssayEval*, uint64_t index, AssayTensor*); /* 1: given; 0: left out */
  uint64_t (*eval_output_count)(const AssayEval*);
  int32_t (*eval_output_dtype)(const AssayEval*, uint64_t index); /* declared */
  AssayOutputs* (*eval_outputs)(AssayEval*);
  uint64_t (*eval_seed)(
      const AssayEval*); /* for random operators: differs from node to node, equal from run to run */

  /* A way to run a node. `blocks` has, for each input and then each output, the number of channels that lie
   * together (8 or 16; an image's layout N, C/b, H, W, b), or 0 for row-major. `seconds`: what it may take,
   * for choices without measurements; 0: not known. */
  int32_t (*add_way)(AssayWays*, const char* name, const int32_t* blocks, uint64_t count, double seconds);

  /* ---- since version 2 ---- */

  /* Bytes of the module's own, which serialize_model() fills; to be released. */
  AssayBytes* (*new_bytes)(void);
  const void* (*bytes_data)(const AssayBytes*,
                            uint64_t* size); /* valid until they are appended to or released */
  void (*release_bytes)(AssayBytes*);
} AssayHost;

/* ---- What modules add ---- */

/* `self` of every structure is handed back to its callbacks. */

enum { ASSAY_FLAG, ASSAY_ONE, ASSAY_OPTIONAL, ASSAY_ANY, ASSAY_AT_LEAST_ONE }; /* words behind an option */
enum { ASSAY_WORD, ASSAY_INTEGER, ASSAY_NUMBER };                              /* and what they must be */

typedef struct AssayOption {
  uint64_t size;
  const char* names; /* "--res-des-speed --speed": the first is the one to ask for */
  const char* help;
  const char* metavar; /* may be null */
  int32_t arity, kind;
  const char* const* choices; /* ends with a null; null: any */
} AssayOption;

/* Options of `run`, under a title of their own in its --help. */
typedef struct AssayOptionGroup {
  uint64_t size;
  void* self;
  const char *title, *description;
  const AssayOption* const* options;
  uint64_t option_count;
  /* Called before anything runs; may be null. An error ends the command. */
  int32_t (*validate)(void* self, const AssayArgs*);
} AssayOptionGroup;

/* Changes the model before runners get it, when its option is given. */
typedef struct AssayLoader {
  uint64_t size;
  void* self;
  const char *name, *option, *summary; /* option may be null: for the module's own use */
  int32_t (*apply)(void* self, AssayModel* changed, const AssayArgs*);
} AssayLoader;

/* A backend. */
typedef struct AssayRunner {
  uint64_t size;
  void* self;
  const char* name;          /* "identity" */
  const char* option;        /* "--identity", the flag of `run` that chooses it */
  const char* runner_prefix; /* "identity-runner": the runner's name in logs */
  const char* human_name;    /* "Identity" */
  const char* summary;       /* for --help */
  int32_t reads_files;       /* it wants the model as its file has it; else every shape is inferred */
  /* May be null. An error says why it cannot be used here, and what to do. */
  int32_t (*probe)(void* self);
  /* `path`: the file that holds exactly this model; null when there is none. `threads`: 0 or how many it may
   * use. */
  int32_t (*open)(void* self, const AssayModel*, const char* path, int32_t threads, const AssayArgs*,
                  void** session);
  int32_t (*describe)(void* session, AssayTensorInfos*);
  /* Inputs in the order of describe(); gives every output by its number. `seconds`: what inference took. */
  int32_t (*infer)(void* session, const AssayTensor* inputs, uint64_t count, AssayOutputs*, double* seconds);
  void (*close)(void* session);
} AssayRunner;

typedef struct AssayOperatorVersion {
  uint64_t size;
  int64_t since;
  /* Inputs, outputs, attributes and types, a declaration a line: docs/guide/extensions.md has the form. */
  const char* schema;
  int32_t (*infer)(void* self, AssayInfer*);
  int32_t (*eval)(void* self, AssayEval*); /* may be null */
} AssayOperatorVersion;

enum { ASSAY_EXACT, ASSAY_ELEMENTWISE, ASSAY_ACCUMULATING, ASSAY_CUSTOM_ERROR };

/* Where the elements of an operator's outputs come from. */
enum {
  ASSAY_MOVES_NOTHING,  /* they are computed */
  ASSAY_MOVES_VIEW,     /* those of input 0 in their order, in another shape */
  ASSAY_MOVES_FIRST,    /* those of input 0 in other places, perhaps repeated or left out */
  ASSAY_MOVES_INPUTS,   /* those of several inputs */
  ASSAY_MOVES_FILLED,   /* those of inputs, and numbers that the node has itself */
  ASSAY_MOVES_EXTENTS,  /* of the input only the extents count */
  ASSAY_MOVES_SELECTED, /* numbers of the inputs, chosen by comparing them */
};
enum { ASSAY_SIGN_ANY, ASSAY_SIGN_NOT_NEGATIVE, ASSAY_SIGN_POSITIVE }; /* of results; the last: never -0 */

/* For AssayOperatorFacts::flags. */
#define ASSAY_COMMUTATIVE 1u /* the order of the inputs means nothing */
#define ASSAY_IDEMPOTENT 2u  /* applied again it changes nothing */
#define ASSAY_GIVES_WHOLE 4u /* results are whole numbers */
#define ASSAY_JUMPS 8u       /* close inputs may give results that are far apart */
#define ASSAY_COMMUTES_WITH_CAST                                                                    \
  16u                         /* in an integer type it gives what a Cast makes of its float results \
                               */
#define ASSAY_TOTAL 32u       /* only types and shapes decide whether it can be computed */
#define ASSAY_RECODES 64u     /* the same elements in another type */
#define ASSAY_MIXES_AXIS 128u /* elements along an axis are computed with each other */
#define ASSAY_MAY_GROW 256u   /* results may be much larger than the inputs */

#define ASSAY_EVERY_INPUT 255

/* What is known of an operator without running it: passes, tactics, the verdict, sharding and inspection
 * treat it accordingly, as they treat the standard's. Zero everywhere: nothing is assumed. From version 3 on.
 */
typedef struct AssayOperatorFacts {
  uint64_t size;
  int32_t moves;
  int32_t elementwise; /* the number of its first inputs that are broadcast together; ASSAY_EVERY_INPUT; 0:
                          none */
  uint64_t flags;
  int32_t sign;
  int32_t size_input; /* the input, counted from 1, whose values decide an extent; 0: none */
  /* The engine's pointwise instruction that computes it, for the element types that both have, and the
   * attributes that are its parameters a and b: "LeakyRelu", "alpha", null. docs/guide/extensions.md lists
   * them. */
  const char *instruction, *parameter_a, *parameter_b;
  /* Multiply-accumulates of a node whose types are known; ASSAY_UNKNOWN. May be null: then they are unknown.
   */
  int64_t (*multiply_accumulates)(void* self, const AssayNode*);
} AssayOperatorFacts;

typedef struct AssayOperator {
  uint64_t size;
  void* self;
  const char *domain, *name;
  const AssayOperatorVersion* const* versions; /* oldest first */
  uint64_t version_count;
  int32_t as_stored; /* eval sees floats as they are stored, not as float64 */
  int32_t random;    /* results differ from run to run */
  /* How far rounding may move an output (docs/internals/numerics.md): exact; |error| <= ulps u |y|; |error|
   * <= (terms + ulps) u m with m the operator on |inputs|; or `bound` says it. */
  int32_t error;
  double ulps;
  int64_t (*terms)(void* self, AssayEval*);
  /* Fills one float64 for each element of output `index`, whose exact value is `y` (float64). */
  int32_t (*bound)(void* self, AssayEval*, double u, uint64_t index, const AssayTensor* y, double* bound);
  const AssayOperatorFacts* facts; /* may be null */
} AssayOperator;

enum {
  ASSAY_STAGE_LOWERING,
  ASSAY_STAGE_CANONICAL,
  ASSAY_STAGE_SPECIALIZE,
  ASSAY_STAGE_IDIOMS,
  ASSAY_STAGE_SIMPLIFY
};

/* A graph pass of the engine (or of `surgeon sanitize --simplify`). It keeps what the model computes. */
typedef struct AssayPass {
  uint64_t size;
  void* self;
  const char *name, *summary; /* snake_case */
  int32_t stage;
  int64_t since; /* runs on models of this opset or a newer one */
  int32_t (*run)(void* self, AssayModel* changed, int32_t* has_changed);
} AssayPass;

/* A way of the engine to run an operator: TensorRT's plugin and its creator. A plugin is made for a node when
 * an engine is built, written into the plan, and made again from it, once for each context and set of shapes.
 */
typedef struct AssayTactic {
  uint64_t size;
  void* self;
  const char *name, *summary;
  int32_t version;       /* raised when speed or results change: timings of other versions do not count */
  const char* operators; /* that it runs, by spaces: "Relu com.example.Twice" */
  int32_t numerics;      /* ASSAY_TACTIC_... */
  /* A plugin for this node. An error is the sentence that says why it cannot run it. */
  int32_t (*create)(void* self, const AssayNode*, void** plugin);
  int32_t (*deserialize)(void* self, const void* data, uint64_t size, void** plugin);
  void (*destroy)(void* plugin);
  int32_t (*serialize)(void* plugin, AssayBytes*);
  /* The ways in which it can run, for these extents: the formats it supports together. Data of the tensors
   * are null. */
  int32_t (*ways)(void* plugin, const AssayTensor* inputs, uint64_t input_count, const AssayTensor* outputs,
                  uint64_t output_count, AssayWays*);
  /* Scratch memory that enqueue() needs. Bytes; negative: an error. */
  int64_t (*workspace)(void* plugin, const AssayTensor* inputs, uint64_t input_count,
                       const AssayTensor* outputs, uint64_t output_count, const char* way);
  /* Before the first enqueue(): extents and way are final. May be null. */
  int32_t (*configure)(void* plugin, const AssayTensor* inputs, uint64_t input_count,
                       const AssayTensor* outputs, uint64_t output_count, const char* way);
  /* Extents as in configure(). Must not allocate if it can. */
  int32_t (*enqueue)(void* plugin, const AssayTensor* inputs, uint64_t input_count, void* const* outputs,
                     uint64_t output_count, void* scratch);
} AssayTactic;
enum { ASSAY_TACTIC_EXACT, ASSAY_TACTIC_REASSOCIATED, ASSAY_TACTIC_LOWERED }; /* against float32 in order */

/* Changes the outputs of an inference before they are compared: `run --postprocess NAME`. It gets all
 * outputs, and what it gives takes their place. */
typedef struct AssayPostprocess {
  uint64_t size;
  void* self;
  const char *name, *summary;
  int32_t (*apply)(void* self, const AssayArgs*, const AssayNamedTensor* outputs, uint64_t count,
                   AssayOutputs* named);
} AssayPostprocess;

/* Compares one output of two runners: `run --compare NAME`. `text` takes a line that says what was found. */
typedef struct AssayComparison {
  uint64_t size;
  void* self;
  const char *name, *summary;
  int32_t (*compare)(void* self, const AssayArgs*, const char* output, const AssayTensor* first,
                     const AssayTensor* second, int32_t* passed, AssayBytes* text);
} AssayComparison;

/* A subcommand of assay. */
typedef struct AssayCommand {
  uint64_t size;
  void* self;
  const char *name, *summary, *description;
  const AssayOption* const* options;
  uint64_t option_count;
  int32_t (*run)(void* self, const AssayArgs*, int32_t* exit_code);
} AssayCommand;

typedef struct AssayRegistration {
  uint64_t size;
  int32_t (*add_option_group)(AssayRegistrar*, const AssayOptionGroup*);
  int32_t (*add_loader)(AssayRegistrar*, const AssayLoader*);
  int32_t (*add_runner)(AssayRegistrar*, const AssayRunner*);
  int32_t (*add_operator)(AssayRegistrar*, const AssayOperator*);
  int32_t (*add_pass)(AssayRegistrar*, const AssayPass*);
  int32_t (*add_tactic)(AssayRegistrar*, const AssayTactic*);
  int32_t (*add_postprocess)(AssayRegistrar*, const AssayPostprocess*);
  int32_t (*add_comparison)(AssayRegistrar*, const AssayComparison*);
  int32_t (*add_command)(AssayRegistrar*, const AssayCommand*);
} AssayRegistration;

typedef struct AssayExtensionInfo {
  uint64_t size;
  uint32_t abi; /* ASSAY_EXTENSION_ABI of the headers that it was compiled with */
  uint32_t reserved;
  const char *name, *version, *summary;
} AssayExtensionInfo;

/* Adds what the module has to add. If it fails, nothing of the module is there. */
typedef int32_t (*AssayRegister)(const AssayHost*, const AssayRegistration*, AssayRegistrar*);

#ifdef __cplusplus
}
#endif

#endif
