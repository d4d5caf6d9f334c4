"""Wire formats: one pure module per format, without sockets; decoders raise only WireError."""
