"""Whether a spec is what Vega-Lite's published schema allows."""

import altair as alt

KINDS = {"vconcat": alt.VConcatChart, "layer": alt.LayerChart}


def check(spec):
    """ValidationError for a spec that is not; it is held to the schema of its own kind, as trying every other kind's
    first takes ten times as long. The data of all pictures are rows, and are left out."""
    (kind,) = (kind for key, kind in KINDS.items() if key in spec)
    kind.validate({**spec, "datasets": {}, "$schema": alt.SCHEMA_URL})
