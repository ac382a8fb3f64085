"""Its place puts the folder of tests on the import path: `helpers` and `generator` are found there."""
