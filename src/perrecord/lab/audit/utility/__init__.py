"""The utility audit: answers are what they say they are, exactly and in their distribution."""
