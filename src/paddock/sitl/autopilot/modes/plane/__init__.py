"""The modes of planes."""
