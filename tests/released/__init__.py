"""Published numbers and what follows from them."""
