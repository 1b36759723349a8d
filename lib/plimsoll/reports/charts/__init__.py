"""The pictures: Vega-Lite specs that are drawn to SVG and PNG here, and in a reader's browser by the HTML report.

Specs are built unvalidated, which halves the time: their tests validate them.
"""
