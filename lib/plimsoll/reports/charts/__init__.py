"""The pictures: Vega-Lite specs that are drawn to SVG and PNG here, and in a reader's browser by the HTML report."""
