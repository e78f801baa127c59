"""What one listening on a WebSocket consists of."""
