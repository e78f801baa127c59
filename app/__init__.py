"""facts-mcp: measures network services under a strict egress policy and remembers what was observed.

The layers, in the order in which a call travels; a module imports only from below:

    cli            commands for people; without one, `facts-mcp` serves
    main, doctor   puts the parts together; self-examination
    transport      how bytes reach us; settings beside it: what can be set
    dispatch       bytes in, bytes out: deadline, cancellation, the one log line a call
    mcp, tools     the protocol, sans I/O; what callers can ask for
    measure        one module a kind of measurement
    recall         claims: what is found by, how old it is, how to measure again
    net, store     the only code that opens a socket outwards; the logs, their index, their checkpoints
    proofs         Merkle trees, signed notes, proofs
    records        the events of the logs and their lines
    redact, telemetry, clock, errors
    policy         (a package of its own) which targets may be measured, and why
"""

VERSION = "0.1.0"
