"""The programs that are shipped, in folders by lesson."""

if __name__ != "tinygpu.programs":
    raise ImportError("import this package as tinygpu.programs, not as " + __name__)
