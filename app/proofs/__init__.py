"""Merkle trees over the lines of a log, signed checkpoints and proofs; pure, in the formats of RFC 6962 and C2SP."""
