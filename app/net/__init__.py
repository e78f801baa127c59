"""Guarded egress: the only code that opens a socket outwards."""
