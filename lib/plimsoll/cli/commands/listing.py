"""The commands of the program as its help lists them: the first sentence of each, without importing any."""

from typing import Final

PANELS: Final = {
    "Audit": {
        "access:permissions": "Print the permissions that Plimsoll needs: an IAM policy for AWS, a custom "
        "role for Google Cloud.",
        "audits:audit": "Recommend what each volume should be, with the saving, the evidence and what blocks it.",
        "audits:explain": "Show one volume: its demand, its ceilings, every offer and why it lost, the "
        "evidence, and the change.",
        "audits:stripes": "Ask AWS hosts which of their volumes are one md or LVM device; audits then "
        "size and change these together.",
    },
    "Read a run": {
        "results:report": "Write a run's report: the page to read, the data as files, Markdown for a "
        "ticket, or messages for Slack.",
        "results:serve": "Show the newest run in a browser, also while its audit goes on, with each "
        "volume's history. It only reads.",
        "results:query": "Ask a run in SQL: recommendations, offers, demand and failures; without a "
        "query, list their columns.",
        "results:diff": "Compare two runs: what is new, gone, changed and done, and what has been saved since.",
        "results:schema": "Print the JSON Schema of recommendations.json, or of the detail of an event.",
        "results:chart": "Draw a volume's demand, and rooflines, as SVG or PNG.",
        "results:slack": "Post a run's report to Slack, and print the manifest of the app.",
    },
    "Measure": {
        "evidence:validate": "Measure a target with fio, on a scratch volume beside the workload's own, before "
        "anything is moved to it.",
        "evidence:probe": "Read a host's own counts of its volumes once a second: peaks, exceeded limits, latency. "
        "It does no I/O.",
        "evidence:benchmark": "Run fio here, on a directory or an empty device, and add what it "
        "measured to the library.",
        "evidence:sweep": "Delete scratch volumes past their deadline, also those that a killed command left.",
        "evidence:bench_agent": "Print the startup script that makes a VM of Google Cloud "
        "a bench host (docs/validation.md).",
        "evidence:envelopes": "Measured envelopes: list, show, compare, import.",
    },
    "Look back": {
        "backtests:backtest": "Size a fleet at past weeks by several rules, and say what each saved and throttled "
        "in the days after.",
        "backtests:learn": "Learn from fleets how much headroom keeps which risk, into a small file "
        "that people can read.",
        "backtests:fleet": "Make a fleet's file for `backtest` and `learn`: of rows, a recording or what clouds keep "
        "(benchmarks/fleets).",
    },
    "Try it": {
        "simulation:demo": "Audit simulated accounts of AWS or projects of Google Cloud, or both: no "
        "cloud, no Docker, no configuration.",
        "simulation:simulate": "Run a simulated cloud on loopback until Ctrl-C, and print how to point a tool at it.",
    },
}
"""By the panel of help: where each command stands under `plimsoll.cli.commands`, and its help's first sentence."""
