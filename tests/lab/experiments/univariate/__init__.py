"""One heavy-tailed attribute, split: simulated records (SIM) and the cattle survey (CIS)."""
