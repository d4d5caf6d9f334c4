"""Handlers of operations in the simulation's process, one module per subject.

A handler is a function named like its operation: `handler(run, client, **arguments)`. The table says where it runs; its
arguments have been validated. One that takes long returns a Future. An operation that is a method of the simulation,
under the name of the clients' method, needs no handler.
"""
