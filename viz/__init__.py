"""Pictures and reports made from results and traces."""

if __name__ != "tinygpu.viz":
    raise ImportError("import this package as tinygpu.viz, not as " + __name__)
