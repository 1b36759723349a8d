"""Draws the pictures of the README and of the documents, mostly by the commands that docs/report.md shows: `make
pictures`."""

from pathlib import Path

from benchmarks.application import picture as application
from plimsoll.cli.main import app

HERE = Path(__file__).parent
RUN = str(HERE / "demo")
SEED_004 = ("gp3-4000-1000", "gp3-raid0-2x4000-1000", "io2-16000", "gp3-16000-1000")
SEEDS = ("gp2-1tb", "gp3-1tb-3000-250", "io1-30000-r6g.4xlarge", "pd-ssd-500", "naver-ssd-500", "gp3-16000-1000")
PICTURES = {
    "comparison.svg": ("envelopes", "compare", *SEED_004, "--chart"),
    "campaigns.svg": ("envelopes", "compare", *SEEDS, "--chart"),
    "envelopes.svg": ("chart", "roofline", *SEED_004, "--out"),
    "demand.svg": ("chart", "demand", "vol-003af0c4e4d581b53", "--run", RUN, "--out"),
    "roofline.svg": ("chart", "roofline", "vol-003b87a83610a8a08", "--run", RUN, "--out"),
}

APPLICATION = "application.svg"
"""Drawn from the check by an application in benchmarks/application, which is no command of Plimsoll."""

NAMES = (*PICTURES, APPLICATION)


def draw(folder: Path) -> None:
    """Draws every picture into a folder."""
    for name, words in PICTURES.items():
        app([*words, str(folder / name)], standalone_mode=False)
    (folder / APPLICATION).write_text(application.draw(), encoding="utf-8")


if __name__ == "__main__":
    draw(HERE)
