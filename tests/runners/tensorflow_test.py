"""The runner `tensorflow` with the real package. Usage: tensorflow_test.py RUNNER_TOOL"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import keras
import numpy as np
import tensorflow as tf

from runner_test import RunnerTest, child_values, load, main

v1 = tf.compat.v1
RUNNER = load("tensorflow").TensorFlowRunner
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def write_graph(path, build):
    graph = tf.Graph()
    with graph.as_default():
        build()
    with open(path, "wb") as file:
        file.write(graph.as_graph_def().SerializeToString())
    return path


def linear_graph():
    x = v1.placeholder(tf.float32, [None, 3], name="Input")
    y = tf.matmul(x, tf.constant([[1.0], [2.0], [3.0]]), name="product")
    tf.identity(y + 1, name="out")
    tf.nn.relu(y, name="rectified")


class TensorFlow(RunnerTest):
    def raises(self, *args, **options):
        with self.assertRaises(Exception) as caught:
            RUNNER(*args, **options)
        return str(caught.exception)

    def test_frozen_graph(self):
        path = write_graph(self.path("model.pb"), linear_graph)
        lines, outputs = self.run_tool("tensorflow", path, {"Input:0": X}, threads=1)
        self.assertEqual(lines, ["input Input:0 float32[?, 3]", "output out:0 float32[?, 1]", "output rectified:0 float32[?, 1]"])
        np.testing.assert_array_equal(outputs["out:0"], [[9], [27]])
        np.testing.assert_array_equal(outputs["rectified:0"], [[8], [26]])

    def test_chosen_outputs(self):
        path = write_graph(self.path("model.pb"), linear_graph)
        self.assertEqual(list(RUNNER(path, outputs="product, out:0").outputs()), ["product:0", "out:0"])
        for every in ("*", "mark all"):
            self.assertEqual(list(RUNNER(path, outputs=every).outputs()), ["product:0", "add:0", "out:0", "rectified:0"])
        self.assert_mentions(self.raises(path, outputs="nope"), "no tensor 'nope'", "out:0, rectified:0")

    def test_saved_again_as_a_frozen_graph(self):
        path = write_graph(self.path("model.pb"), linear_graph)
        RUNNER(path, outputs="out", save_pb=self.path("part.pb"))
        part = RUNNER(self.path("part.pb"))
        self.assertEqual(list(part.outputs()), ["out:0"])
        np.testing.assert_array_equal(part.infer({"Input:0": X})["out:0"], [[9], [27]])

    def test_strings(self):
        def build():
            tf.strings.join([v1.placeholder(tf.string, [None], name="text"), "!"], name="loud")

        path = write_graph(self.path("model.pb"), build)
        _, outputs = self.run_tool("tensorflow", path, {"text:0": np.array(["a", "Grüße"])})
        self.assertEqual(outputs["loud:0"].tolist(), ["a!", "Grüße!"])

    def test_control_flow(self):
        def build():
            v1.disable_control_flow_v2()
            n = v1.placeholder(tf.int32, [], name="n")
            tf.identity(v1.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])[1], name="sum")
            taken, other = v1.raw_ops.Switch(data=n, pred=n > 2) if hasattr(v1, "raw_ops") else tf.raw_ops.Switch(data=n, pred=n > 2)
            tf.identity(taken, name="small")
            v1.enable_control_flow_v2()

        path = write_graph(self.path("model.pb"), build)
        runner = RUNNER(path, outputs="sum")
        self.assertEqual(runner.infer({"n:0": np.int32(5)})["sum:0"], 10)
        # Every tensor that has one value: those inside the loop have none.
        self.assertIn("sum:0", RUNNER(path, outputs="*").outputs())
        small = RUNNER(path, outputs="small")
        self.assertEqual(small.infer({"n:0": np.int32(1)})["small:0"], 1)
        with self.assertRaisesRegex(ValueError, "branch that was not taken"):
            small.infer({"n:0": np.int32(5)})

    def test_functions_of_the_second_api(self):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
        def count(x):
            total = tf.constant(0.0)
            for value in x:
                if value > 0:
                    total += value
            return total

        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

        frozen = convert_variables_to_constants_v2(count.get_concrete_function(), lower_control_flow=False)
        with open(self.path("model.pb"), "wb") as file:
            file.write(frozen.graph.as_graph_def().SerializeToString())
        runner = RUNNER(self.path("model.pb"))
        self.assertEqual(list(runner.inputs()), ["x:0"])
        (made,) = runner.infer({"x:0": np.float32([1, -2, 3])}).values()
        self.assertEqual(made, 4)

    def test_unknown_operators(self):
        path = write_graph(self.path("model.pb"), linear_graph)
        definition = v1.GraphDef()
        with open(path, "rb") as file:
            definition.ParseFromString(file.read())
        definition.node[-1].op = "MadeUpOperator"
        with open(path, "wb") as file:
            file.write(definition.SerializeToString())
        self.assert_mentions(self.failure("tensorflow", path), "operators that TensorFlow " + tf.__version__ + " does not have",
                             f"MadeUpOperator (node '{definition.node[-1].name}')", "op_library", "runners/tensorflow.py")

    def test_saved_model(self):
        class Model(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable([[1.0], [2.0], [3.0]])

            @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
            def first(self, x):
                return {"y": x @ self.w, "z": tf.cast(x, tf.int64)}

            @tf.function(input_signature=[tf.TensorSpec([3], tf.float32, name="q")])
            def second(self, q):
                return {"p": -q}

        model = Model()
        path = self.path("saved")
        tf.saved_model.save(model, path, signatures={"serving_default": model.first, "other": model.second})
        lines, outputs = self.run_tool("tensorflow", path, {"x": X})
        self.assertEqual(lines[0], "input x float32[?, 3]")
        np.testing.assert_array_equal(outputs["y"], [[8], [26]])
        np.testing.assert_array_equal(outputs["z"], X)
        other = RUNNER(path, signature="other")
        np.testing.assert_array_equal(other.infer({"q": X[0]})["p"], -X[0])
        self.assertEqual(list(RUNNER(path, outputs="z").infer({"x": X})), ["z"])
        self.assert_mentions(self.raises(path, signature="third"), "no signature 'third'", "'serving_default', 'other'")
        self.assert_mentions(self.raises(path, outputs="w"), "no output 'w'", "y, z")
        RUNNER(path, save_pb=self.path("frozen.pb"))
        frozen = RUNNER(self.path("frozen.pb"))
        made = frozen.infer({name: X for name in frozen.inputs()})
        self.assertTrue(any(v.shape == (2, 1) and np.array_equal(v, [[8], [26]]) for v in made.values()))

    def test_keras(self):
        keras.utils.set_random_seed(1)
        a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
        merged = keras.layers.Concatenate()([a, b])
        model = keras.Model([a, b], [keras.layers.Dense(2, name="one")(merged), keras.layers.BatchNormalization(name="two")(merged)])
        expected = [np.asarray(t) for t in model([X, X + 1], training=False)]
        for file in ("model.keras", "model.h5"):
            model.save(self.path(file))
            runner = RUNNER(self.path(file))
            self.assertEqual(list(runner.inputs()), ["a", "b"])
            self.assertEqual(list(runner.outputs()), ["one", "two"])
            for made, wanted in zip(runner.infer({"a": X, "b": X + 1}).values(), expected):
                np.testing.assert_allclose(made, wanted, rtol=1e-6)
        lines, outputs = self.run_tool("tensorflow", self.path("model.keras"), {"a": X, "b": X + 1}, outputs="two")
        self.assertEqual(lines[0], "input a float32[?, 3]")
        np.testing.assert_allclose(outputs["two"], expected[1], rtol=1e-6)
        RUNNER(self.path("model.keras"), save_pb=self.path("frozen.pb"))
        self.assertEqual(len(RUNNER(self.path("frozen.pb")).inputs()), 2)
        with open(self.path("bad.keras"), "w") as file:
            file.write("no model")
        self.assert_mentions(self.raises(self.path("bad.keras")), f"Keras {keras.__version__} cannot read", "bad.keras")

    def test_checkpoint_of_a_graph(self):
        folder = self.path("checkpoint")
        os.mkdir(folder)
        graph = tf.Graph()
        with graph.as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [None, 3], name="x")
            weights = v1.get_variable("w", initializer=tf.constant([[1.0], [2.0], [3.0]]), use_resource=False)
            tf.matmul(x, weights, name="y")
            session.run(v1.global_variables_initializer())
            saver = v1.train.Saver()
            saver.save(session, os.path.join(folder, "model"))
            session.run(weights.assign(weights * 2))
            saver.save(session, os.path.join(folder, "later"))
        for path, options, factor in ((folder, {}, 2), (folder, {"ckpt": "model"}, 1),
                                      (os.path.join(folder, "model.meta"), {}, 1), (os.path.join(folder, "model"), {}, 1)):
            runner = RUNNER(path, **options)
            self.assertEqual(list(runner.outputs()), ["y:0"])
            np.testing.assert_array_equal(runner.infer({"x:0": X})["y:0"], factor * np.float32([[8], [26]]))
        RUNNER(folder, save_pb=self.path("frozen.pb"))
        np.testing.assert_array_equal(RUNNER(self.path("frozen.pb")).infer({"x:0": X})["y:0"], [[16], [52]])

    def test_checkpoint_of_objects(self):
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        path = checkpoint.save(self.path("objects"))
        self.assert_mentions(self.raises(path), "holds values without a graph", ".meta is missing", "SavedModel or Keras")

    def test_tensors_of_scripts(self):
        """What a data loader may give in place of arrays."""
        kind, (number, data, nbytes, shape) = child_values().encode(tf.constant([[1, 2]], tf.int64), "x")
        self.assertEqual((kind, number, shape, bytes(data)), ("t", 7, [1, 2], np.int64([1, 2]).tobytes()))

    def test_other_files(self):
        with open(self.path("text.pb"), "w") as file:
            file.write("no graph")
        self.assert_mentions(self.raises(self.path("text.pb")), "is no frozen graph")
        self.assert_mentions(self.raises(self.path("text.pb"), model_type="caffe"), "'caffe'", "frozen, saved, keras, ckpt")
        with open(self.path("empty.pb"), "w"):
            pass
        self.assert_mentions(self.raises(self.path("empty.pb")), "a graph without nodes")

        def variables():
            v1.get_variable("w", [1])

        self.assert_mentions(self.raises(write_graph(self.path("v.pb"), variables)), "not frozen", "w")
        self.assert_mentions(self.raises(self.folder), "which checkpoint is the newest")


if __name__ == "__main__":
    main()
