"""The closed loops: what becomes of volumes that are audited weekly when every recommendation is followed.

In the first one each is on a host that has room for it, in the second one several are on one that has not.
"""
