"""The command line: one file per verb. Asks through `sdk` and `client`, never imports the keeper."""
