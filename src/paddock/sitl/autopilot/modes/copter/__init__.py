"""The modes of copters."""
