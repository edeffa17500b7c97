"""The kinds of layers."""
