"""What agencies use today: multiplicative noise and suppressed cells."""
