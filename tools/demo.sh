#!/bin/sh
# Generates ResNet-18 and asks three backends what they make of it. Usage: demo.sh path/to/assay
set -eu
assay=$1
model=$(dirname "$assay")/demo/resnet-18.onnx
mkdir -p "$(dirname "$model")"
echo "\$ assay template model resnet-18 -o $model"
"$assay" template model resnet-18 -o "$model"
echo
echo "\$ assay run $model --engine --onnxrt --ref"
"$assay" run "$model" --engine --onnxrt --ref
