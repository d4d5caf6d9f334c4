"""The modes of rovers."""
