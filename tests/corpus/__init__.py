"""Outputs of fio and sysbench that Plimsoll must read right, and traps that it must see; `python -m tests.corpus`."""
