"""Protection of a served simulation from its clients.

- `admission.py`: which connections the hub admits, and how many requests per second
- `trust.py`: which names, states and numbers of vehicles clients may use
- `checker.py`: scenarios and tracks of clients are validated in another process
- `zmq_connections.py`: the token and the limits of ZeroMQ connections, which libzmq does not limit itself

Budgets of processor time for changes and commands are in `hub.py` (`OperationGate`) and `facts.py`, the proof that a
sender of datagrams receives at its address in `endpoints/vds1/inbox.py` (`AddressCookies`).
"""
