"""Parts that several models share: scalar, branch-free functions."""
