"""The tests, as a package: `tests.benchmarks` is run as a module, and helpers are imported by name."""
