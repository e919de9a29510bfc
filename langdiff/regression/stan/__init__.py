"""The full posterior with Stan, by PyStan or CmdStan."""
