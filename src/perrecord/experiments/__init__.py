"""The experiments of the paper, figure by figure, through the library's own interface.

One module for each; its parameters stand at its top, once for the full run and once for the quick
one. No experiment has a mechanism of its own.
"""
