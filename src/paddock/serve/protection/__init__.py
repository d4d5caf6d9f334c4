"""Protection of a served simulation from its clients.

- `admission.py`: which connections the hub admits, and how many requests per second
- `gate.py`: budgets of processor time for changes and commands
- `trust.py`: which names, states and numbers of vehicles clients may use
- `checker.py`: scenarios and tracks of clients are validated in another process
- `zmq_connections.py`: the token and the limits of ZeroMQ connections, which libzmq does not limit itself
- `address_cookies.py`: proof that a sender of datagrams receives at its address
"""
