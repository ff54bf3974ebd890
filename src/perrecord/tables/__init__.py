"""Tables and the public key sets that queries answer for."""
