"""The mathematics of P(r): no data, no input or output, no randomness."""
