"""Computation: a plain scalar function becomes a NumPy function, a parallel CPU kernel or a CUDA kernel."""
