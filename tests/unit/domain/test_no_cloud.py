"""The domain knows no cloud: what is one's own is in its data and its adapters."""

import re
from pathlib import Path

import plimsoll.domain

CLOUDS = re.compile(r"\b(aws|amazon|ebs|ec2|cloudwatch|google|gcp|stackdriver|azure|naver)\b", re.IGNORECASE)


def test_no_module_of_the_domain_names_a_cloud():
    (folder,) = plimsoll.domain.__path__
    modules = sorted(Path(folder).rglob("*.py"))
    assert len(modules) > 40
    named = [f"{path.name}: {found[0]}" for path in modules if (found := CLOUDS.search(path.read_text("utf-8")))]
    assert not named
