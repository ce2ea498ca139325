"""Searches measured on judged sets: `python -m tests.eval --help`; the gate compares with a baseline."""
