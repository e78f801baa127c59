"""The Model Context Protocol without I/O: bytes go in, events come out, whatever carries them.

`framing` cuts bytes into lines, `jsonrpc` reads and writes messages, `era` says which revision a request
belongs to, `params` and `catalog` hold what is asked for and what is offered, `peer` is one conversation.
Each revision is one module of `revisions`.
"""
