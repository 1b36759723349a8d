"""The one tree of errors: every message names the thing, the place and the remedy.

PlimsollError
├── BadInput            what the user gave cannot be used (exit code 2)
│   ├── PolicyError
│   └── NothingRead     no place that was asked for could be read, so there is nothing to keep
├── DiskFull            there is no room to write; what was written before stays
├── UnknownVolumeType   a volume whose type has no published limits here
├── OutOfTime           a part of a run has used its time up without an answer
├── NotMeasured         a benchmark could not be run, or its result says nothing
│   └── BenchWasTheLimit    the bench could not have delivered more, so that the volume was not measured
└── CloudError          a cloud refused or failed; costs its own target only (exit code 3)
    ├── VolumeGone      a volume was deleted between two calls
    ├── AccessDenied
    │   └── DeniedByPolicy  an organization's own policy denies it: no role can allow it
    │       └── RegionDenied    it denies a region that nobody named, and not the account
    ├── BadCredentials
    ├── RegionUnavailable
    ├── ApiDisabled
    ├── QuotaUsedUp
    ├── ClockSkewed
    ├── Throttled
    ├── Unreachable
    │   └── Unanswered
    └── Unexpected      an answer that breaks the cloud's own contract
        ├── BadAnswer   a field of it is missing or wrong; the answer is kept with the error
        └── Endless     a list or a read that went past its deadline or its bounds
"""


class PlimsollError(Exception):
    """Something a person has to know, in one clear sentence that says what to do."""


class BadInput(PlimsollError):
    """The user's input cannot be used."""


class PolicyError(BadInput):
    """A policy holds an unknown key or a value outside its bounds."""


class NothingRead(BadInput):
    """No place that was asked for could be read."""


class DiskFull(PlimsollError):
    """There is no room to write on."""


class UnknownVolumeType(PlimsollError):
    """A volume has a type without published limits, so nothing can be said of it."""


class OutOfTime(PlimsollError):
    """A part of a run has used its time up without an answer."""


class NotMeasured(PlimsollError):
    """A benchmark could not be run, or its result says nothing."""


class BenchWasTheLimit(NotMeasured):
    """The delivered rate is the bench's own limit."""

    def __init__(self, sentence: str, codes: tuple[str, ...] = ()) -> None:
        """`sentence` is what a person reads."""
        super().__init__(sentence)
        self.codes = codes


class CloudError(PlimsollError):
    """A cloud refused or failed."""


class VolumeGone(CloudError):
    """A volume was deleted between two calls."""


class AccessDenied(CloudError):
    """The caller lacks a permission."""


class DeniedByPolicy(AccessDenied):
    """An organization's own policy denies it, whatever the caller may do."""


class RegionDenied(DeniedByPolicy):
    """A region that nobody named is denied by an organization's policy, while the account is read elsewhere."""


class BadCredentials(CloudError):
    """There are no usable credentials."""


class RegionUnavailable(CloudError):
    """The region does not exist or is switched off for the account."""


class ApiDisabled(CloudError):
    """The API that would answer is switched off for the account."""


class QuotaUsedUp(CloudError):
    """A quota of the account is used up: a higher one has to be asked for."""


class ClockSkewed(CloudError):
    """This machine's clock differs too much from the cloud's."""


class Throttled(CloudError):
    """The cloud kept asking for fewer calls until the retries were used up."""


class Unreachable(CloudError):
    """No connection to the cloud's endpoint."""


class Unanswered(Unreachable):
    """No answer to what was asked, so that it is not known whether it was done."""


PASSING = (Throttled, Unreachable)
"""What may be over soon, so that the same call is worth another attempt; anything else is a place's answer."""


class Unexpected(CloudError):
    """The cloud answered with something that its contract does not allow."""


class BadAnswer(Unexpected):
    """A field of an answer is missing or wrong. `raw` is the answer as text, shortened, without secrets."""

    def __init__(self, sentence: str, raw: str = "") -> None:
        """`sentence` is what a person reads."""
        super().__init__(sentence)
        self.raw = raw


class Endless(Unexpected):
    """A list or a read went past its deadline or its bounds, or a page came twice."""
