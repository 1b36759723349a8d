"""Readers of what fio and sysbench print: each gives results in one form."""
