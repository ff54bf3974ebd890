"""Tests of budgets and the ledger."""
