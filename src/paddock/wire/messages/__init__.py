"""The Protobuf messages of `messages.proto` as typed values, one module per subject: nothing else reads or writes them.

Decoders raise WireError, encoders InvalidValueError. Arrays that come out are read-only views of the message.
"""
