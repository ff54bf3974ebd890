"""Programs of a user who has his types checked: one that is right, one that is wrong."""
