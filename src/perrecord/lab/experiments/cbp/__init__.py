"""County Business Patterns end to end: errors, losses and fitness for use."""
