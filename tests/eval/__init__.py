"""What is measured and held against a limit: `python -m tests.benchmarks --help` (spec: measures).

Every figure is a ratio between two things done alternately in one run on the same input; times alone
say more about the machine. No test asserts a time.
"""
