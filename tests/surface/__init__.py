"""Supply and surface: what is installed, what is reached, what is left behind, who may read it."""
