#!/usr/bin/env python3
"""What do 8 bits cost ResNet-18 on a data set? digits.py [FOLDER]

The 1797 handwritten digits of scikit-learn, as pictures of 64 x 64. The layers before the last are those of the generated ResNet-18;
the last one is trained: a logistic regression on their features, folded into the weights of the Gemm. Half of the digits train it,
and give the scales of the 8 bits; the other half are the test. Needs numpy, onnx and scikit-learn."""

import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import assay

SIDE = 64
FEATURES, HEAD = "/Flatten_output_0", ("fc.weight", "fc.bias")


def pictures():
    """(pictures, classes): the digits, each pixel as a square, in three equal channels, normalized as networks expect it."""
    digits = load_digits()
    enlarged = np.kron(digits.images / 16, np.ones((SIDE // 8, SIDE // 8)))
    images = np.repeat(enlarged[:, None], 3, axis=1)
    images = (images - images.mean()) / images.std()
    # Neighbours in the set are of one writer's hand.
    order = np.random.default_rng(0).permutation(len(images))
    return images[order].astype(np.float32), digits.target[order]


def features_of(model, images):
    context = model.build().create_context()
    return np.concatenate([context({"input": image[None]})[FEATURES] for image in images])


def with_head(model, weights, bias):
    """The model with another last layer."""
    proto = model.to_onnx()
    for name, array in zip(HEAD, (weights, bias)):
        (old,) = (i for i in proto.graph.initializer if i.name == name)
        old.CopyFrom(numpy_helper.from_array(array.astype(np.float32), name))
    output = proto.graph.output[0].type.tensor_type.shape.dim
    output[1].dim_value = len(bias)
    return proto


def train(network, images, classes):
    """The network, its last layer trained."""
    small = [("input", (1, 3, SIDE, SIDE), "float32")]
    features = features_of(network.extract(small, [FEATURES]), images)
    mean, deviation = features.mean(axis=0), features.std(axis=0) + 1e-6
    head = LogisticRegression(C=0.05, max_iter=2000).fit((features - mean) / deviation, classes)
    weights = head.coef_ / deviation
    return with_head(network.extract(small), weights, head.intercept_ - weights @ mean)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "digits"
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    subprocess.run([sys.executable, "-m", "assay", "template", "model", "resnet-18", "-o", "resnet-18.onnx"], check=True)
    images, classes = pictures()
    half = len(images) // 2
    onnx.save(train(assay.load("resnet-18.onnx"), images[:half], classes[:half]), "digits.onnx")
    np.savez("test.npz", input=images[half:], labels=classes[half:])

    made = assay.quantize("digits.onnx", [{"input": image[None]} for image in images[:64]], measure_cost=True)
    with open("scales.txt", "wb") as file:
        file.write(made.scales)
    result = assay.eval(
        "digits.onnx",
        ["engine", "trt"],
        "test.npz",
        labels="labels",
        metrics=["top1", "agreement", "sqnr"],
        save_worst="worst",
        output="result.json",
        build={"int8": True},
        run={"calibration_cache": "scales.txt"},
    )
    for backend, name in (("engine", "float32"), ("trt", "int8")):
        top1 = result.metric("top1", backend)
        print(f"{name}: {100 * top1.value:.2f} % are right [{100 * top1.low:.2f}, {100 * top1.high:.2f}], of {top1.count}")
    agreement, sqnr = result.metric("agreement", "trt"), result.metric("sqnr", "trt")
    print(f"the same class: {100 * agreement.value:.2f} % [{100 * agreement.low:.2f}, {100 * agreement.high:.2f}]")
    print(f"signal to noise: {sqnr.value:.1f} dB [{sqnr.low:.1f}, {sqnr.high:.1f}]")
    print("the ten worst samples: " + ", ".join(f"{sample} ({value:.1f} dB)" for sample, value in sqnr.worst))
    costs = sorted(made.cost.layers, key=lambda layer: -layer.error_share)
    print(f"the layer that costs most: {costs[0].layer}, {100 * costs[0].error_share:.1f} % of the error")


if __name__ == "__main__":
    main()
