"""What callers can ask for, one module a toolset."""
