"""The machine: specification, state, units, engine, host, statistics, trace."""

if __name__ != "tinygpu.sim":
    raise ImportError("import this package as tinygpu.sim, not as " + __name__)
