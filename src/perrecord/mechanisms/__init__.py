"""Exact integers to noisy ones: sums, key selection, quantiles, any zCDP mechanism on rows.

What is here touches data. Users reach it through a session or a release, which charge first.
"""
