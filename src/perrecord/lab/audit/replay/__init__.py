"""The replay audit: with and without one record, noise frozen, everything compared exactly."""
