"""What the curator may know of data and releases; all of it is confidential."""
