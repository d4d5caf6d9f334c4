"""Props, which are not driven but can be hit; one file per shape."""
