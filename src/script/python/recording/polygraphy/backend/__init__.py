"""Loaders."""
