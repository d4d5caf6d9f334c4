"""Links: who receives whom, and who jams."""
