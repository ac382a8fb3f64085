"""Puts the folder of tests on the import path (pytest does that for a conftest), for `helpers` and `generator`."""
