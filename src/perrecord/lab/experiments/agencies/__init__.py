"""What agencies use today, which `cbp` compares with: multiplicative noise, suppressed cells."""
