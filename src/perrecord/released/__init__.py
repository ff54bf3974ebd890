"""Noisy numbers and what is made of them: columns with their errors. All of it is public."""
