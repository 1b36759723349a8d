"""The domain knows no cloud: what is one's own is in its data and its adapters."""

import re
from pathlib import Path

import plimsoll

CLOUDS = re.compile(r"\b(aws|amazon|ebs|ec2|cloudwatch|google|gcp|stackdriver|azure|naver)\b", re.IGNORECASE)
ROOMS = ("model", "reading", "demand", "past", "risk", "decide", "refine", "measure")


def test_no_module_of_the_domain_names_a_cloud():
    modules = sorted(path for room in ROOMS for path in (Path(plimsoll.__path__[0]) / room).rglob("*.py"))
    assert len(modules) > 40
    named = [f"{path.name}: {found[0]}" for path in modules if (found := CLOUDS.search(path.read_text("utf-8")))]
    assert not named
