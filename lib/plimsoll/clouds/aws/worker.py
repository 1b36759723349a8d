"""A function that does in its own time what it is handed, which Lambda keeps until then."""

from dataclasses import dataclass
from typing import Any, Final

from plimsoll.clouds.aws.errors import Purpose, attempted

HANDING: Final = Purpose(
    goes_on="Nothing of it was done",
    allow="allow the action to the role of this function; deploying the service again does",
    region="deploy the service in a region that is enabled",
    again="ask again later",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaWorker:
    """A function by its name or ARN; `client` is boto3's of Lambda."""

    function: str
    client: Any

    def hand_over(self, message: str) -> None:
        """Hands over a message, JSON of at most 1 MB (Lambda's quota for asynchronous events, 2026); CloudError.

        An attempt that seems to fail may have been taken, so the same message may come to the function twice.
        """
        with attempted(f"hand a request over to the function {self.function}", "lambda:InvokeFunction", HANDING):
            self.client.invoke(FunctionName=self.function, InvocationType="Event", Payload=message.encode())
