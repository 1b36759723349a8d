"""One plan of an audit in a process that imports nothing else: how many accounts that were, and the memory it took."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from functions import plan


def planned(execution: str) -> int:
    """Plans once, as Lambda calls the function, and says how many accounts that were."""
    event = {"execution": execution, "name": "first", "started": datetime.now(UTC).isoformat(), "input": {}}
    context: Any = SimpleNamespace(
        function_name="plan",
        memory_limit_in_mb=512,
        invoked_function_arn="arn:aws:lambda:us-east-1:000000000001:function:plan",
        aws_request_id="00000000-0000-4000-8000-000000000000",
        get_remaining_time_in_millis=lambda: 900_000,
    )
    return int(plan.handler(event, context)["accounts"])


if __name__ == "__main__":
    accounts = planned(f"arn:aws:states:{sys.argv[1]}:first")
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
    sys.stdout.write(json.dumps({"accounts": accounts, "peak_mib": int(line.split()[1]) / 1024}) + "\n")
