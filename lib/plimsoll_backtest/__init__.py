"""`plimsoll backtest`: size with what was known at past cuts, and judge with what came after (docs/backtest.md)."""
