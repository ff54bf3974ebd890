"""The laboratory: data to try things on, programs that try to disprove the guarantee, experiments.

Nothing in the rest of the library imports it.
"""
