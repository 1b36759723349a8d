"""How each picture is drawn: its Vega-Lite spec, built by Altair, which the extra `charts` brings."""
