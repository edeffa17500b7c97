"""assay: check, change, build and run ONNX models."""
