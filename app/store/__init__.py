"""Where events become durable: what every log backend promises, and the backends, one module each."""
