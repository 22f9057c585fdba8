# The test surfaces of the source tree, under the name that a reader in that tree has.
ln -sfn "$NPMD_TREE/tests" tests
