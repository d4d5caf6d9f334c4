"""The benchmarks of wires: servers and clients are processes of their own, all over loopback."""
