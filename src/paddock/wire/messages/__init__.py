"""The Protobuf messages of `messages.proto` as typed values, one module per subject.

Decoders raise WireError, encoders InvalidValueError. Decoded arrays are read-only views of the message.
"""
