"""What the records and units of a table lose, under policies and by what is really released."""
