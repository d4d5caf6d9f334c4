"""Protection of a served simulation from its clients.

- `admission.py`: the token, names and origins of requests, which connections the hub admits, requests per second
- `trust.py`: which names, states and numbers of vehicles clients may use
- `checker.py`: scenarios and tracks of clients are validated in another process
- `datagram_senders.py`: senders of datagrams, and the proof that they receive at their address
- `zmq_connections.py`: limits of ZeroMQ connections, which libzmq does not have itself

Budgets of processor time are kept where it is spent: `OperationGate` in `hub.py`, `FactPublisher` in `facts.py`.
"""
