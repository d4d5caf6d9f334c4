"""The command line: one file per verb, imported only when its verb is used."""
