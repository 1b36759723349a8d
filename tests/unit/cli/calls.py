"""The command line called in this process."""

import sys

from plimsoll.cli.main import main


def called(monkeypatch, capsys, *words):
    """A command's exit code, what it printed, and what it complained of."""
    monkeypatch.setattr(sys, "argv", ["plimsoll", *map(str, words)])
    code = 0
    try:
        main()
    except SystemExit as exited:
        code = int(exited.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err
