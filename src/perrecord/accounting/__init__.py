"""Budgets as policies, and the durable ledger that no release gets around."""
