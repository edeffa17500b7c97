#!/bin/sh
# Generates ResNet-18 and asks three backends what they make of it. Usage: demo.sh path/to/assay
# The last line that it prints can be pasted into the shell that ran it.
set -eu
assay=$1
model=$(dirname "$assay")/demo/resnet-18.onnx
mkdir -p "$(dirname "$model")"
echo "\$ $assay template model resnet-18 -o $model"
"$assay" template model resnet-18 -o "$model"
echo
echo "\$ $assay run $model --engine --onnxrt --ref"
"$assay" run "$model" --engine --onnxrt --ref
echo
echo "README.md goes on from here. How fast the two are, layer by layer, says"
echo "$assay bench $model --backends engine onnxrt --dump-profile"
