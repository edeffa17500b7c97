"""Graphs, nodes, tensors, functions."""
