"""What a program is: the instruction table, assembler, printer, reference interpreter."""

if __name__ != "tinygpu.isa":
    raise ImportError("import this package as tinygpu.isa, not as " + __name__)
