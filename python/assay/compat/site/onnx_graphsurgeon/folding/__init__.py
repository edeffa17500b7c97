"""Constant folding."""
