"""Bytes: one pure module per format, without sockets; a decoder raises WireError and nothing else."""
