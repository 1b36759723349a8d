"""A function that does in its own time what it is handed, which Lambda keeps until then."""

from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from plimsoll.clouds.aws.errors import attempted
from plimsoll.clouds.common.messages import Purpose
from plimsoll.domain.errors import Unanswered

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

        Unanswered where it may have been taken all the same; so the same message may come to the function twice.
        """
        what = f"hand a request over to the function {self.function}"
        with attempted(what, "lambda:InvokeFunction", HANDING):
            try:
                self.client.invoke(FunctionName=self.function, InvocationType="Event", Payload=message.encode())
            except (ReadTimeoutError, ConnectionClosedError) as error:
                raise Unanswered(
                    f"cannot {what}: Lambda took the request and did not answer ({type(error).__name__}), so that it "
                    "is not known whether it is carried out. Wait for its answer, and ask again where none comes."
                ) from error
