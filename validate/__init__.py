"""Comparison of the simulator with measurements of a real GPU."""

if __name__ != "tinygpu.validate":
    raise ImportError("import this package as tinygpu.validate, not as " + __name__)
