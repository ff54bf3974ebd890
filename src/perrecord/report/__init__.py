"""Figures and self-contained HTML reports, made of numbers that are computed elsewhere."""
