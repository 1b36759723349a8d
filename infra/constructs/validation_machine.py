"""The validation's state machine: choose, and for each volume propose, measure, clean up in any case, conclude."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import aws_stepfunctions_tasks as tasks
from constructs import Construct

from infra.constructs.function_step import EVERY_ERROR, Callee, step
from plimsoll_measure.validation.context import VALIDATIONS
from plimsoll_measure.validation.job import JobStep

JOB_KEY: Final = "validations/{}/{}.json"
"""The key of the state of one item of a validation: by the validation's name and the item's number."""

_VALIDATION: Final = sfn.JsonPath.string_at("$.validation")
_JOB: Final = sfn.JsonPath.string_at("$.proposed.job")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationFunctions:
    """The functions that the validation's states call, each named as its file in `functions`."""

    choose_volumes: Callee
    propose: Callee
    create_scratch: Callee
    check_job: Callee
    attach_scratch: Callee
    send_command: Callee
    clean_up: Callee
    conclude: Callee


def validation_definition(scope: Construct, functions: ValidationFunctions, *, at_once: int) -> sfn.IChainable:
    """The states, from `Choose` on; `at_once` volumes are measured side by side."""
    choose = step(
        scope,
        "Choose",
        functions.choose_volumes,
        {"name": sfn.JsonPath.execution_name, "input": sfn.JsonPath.object_at("$$.Execution.Input")},
    )
    each = sfn.Map(
        scope,
        "Items",
        items_path="$.items",
        item_selector={
            "validation": _VALIDATION,
            "index": sfn.JsonPath.number_at("$$.Map.Item.Index"),
            "item": sfn.JsonPath.object_at("$$.Map.Item.Value"),
            # Known before anything is proposed, so that the clean-up knows it as well where the proposing itself fails.
            "proposed": {"job": sfn.JsonPath.format(JOB_KEY, _VALIDATION, sfn.JsonPath.string_at("$$.Map.Item.Index"))},
        },
        max_concurrency=at_once,
        result_path=sfn.JsonPath.DISCARD,
    )
    each.item_processor(_Item(scope, functions).states())
    return choose.next(each).next(sfn.Succeed(scope, "Done"))


class _Item:
    """The states of one volume. Whatever state fails, the next is the clean-up, and no other volume is disturbed."""

    def __init__(self, scope: Construct, functions: ValidationFunctions) -> None:
        self._scope = scope
        self._functions = functions
        self._ended = sfn.Pass(scope, "ItemDone", parameters={})
        # What is still there after all of the retries is the sweep's.
        self._rescue = step(
            scope,
            "CleanUpAfterFailure",
            functions.clean_up,
            {"job": _JOB, "error": sfn.JsonPath.object_at("$.error")},
            answer_at=sfn.JsonPath.DISCARD,
        )
        self._rescue.add_catch(self._ended, errors=[EVERY_ERROR], result_path="$.left").next(self._ended)

    def states(self) -> sfn.IChainable:
        """From `Propose` on."""
        functions = self._functions
        propose = self._guard(
            step(
                self._scope,
                "Propose",
                functions.propose,
                {
                    "validation": _VALIDATION,
                    "index": sfn.JsonPath.number_at("$.index"),
                    "item": sfn.JsonPath.object_at("$.item"),
                },
                answer_at="$.proposed",
                answer={"job": "job", "next": "next"},
            )
        )
        send = self._on_job("SendCommand", functions.send_command)
        conclude = self._conclude(again=propose)
        # What was measured counts although a volume cannot be deleted now: that is the sweep's.
        clean_up = step(
            self._scope, "CleanUp", functions.clean_up, {"job": _JOB}, answer_at=sfn.JsonPath.DISCARD
        ).add_catch(conclude, errors=[EVERY_ERROR], result_path="$.left")
        looked = self._look_until_ready("Command", JobStep.LOOK_AT_COMMAND, then=clean_up.next(conclude))
        send.next(looked)
        attach = self._on_job("AttachScratch", functions.attach_scratch)
        attach.next(self._look_until_ready("Attachment", JobStep.LOOK_AT_ATTACHMENT, then=send))
        create = self._on_job("CreateScratch", functions.create_scratch)
        create.next(self._look_until_ready("Volume", JobStep.LOOK_AT_VOLUME, then=attach))
        wait = self._wait("WaitForTheHost", JobStep.PROPOSE)
        wait.next(propose)
        proposed = sfn.Choice(self._scope, "WhatIsProposed")
        for answer, state in (("create", create), ("send", send), ("wait", wait)):
            proposed.when(sfn.Condition.string_equals("$.proposed.next", answer), state)
        propose.next(proposed.otherwise(self._ended))
        return propose

    def _conclude(self, *, again: sfn.IChainable) -> sfn.IChainable:
        conclude = self._on_job(
            "Conclude", self._functions.conclude, answer_at="$.concluded", answer={"again": "again"}
        )
        choice = sfn.Choice(self._scope, "IsMoreToMeasure")
        choice.when(sfn.Condition.boolean_equals("$.concluded.again", value=True), again).otherwise(self._ended)
        conclude.next(choice)
        return conclude

    def _wait(self, name: str, taken: JobStep) -> sfn.Wait:
        """The pause of the step table before a step is taken again."""
        pause = Duration.seconds(VALIDATIONS.steps[taken].every_s)
        return sfn.Wait(self._scope, name, time=sfn.WaitTime.duration(pause))

    def _look_until_ready(self, thing: str, looked: JobStep, *, then: sfn.IChainable) -> sfn.IChainable:
        """Looks, waits and looks again; the function itself raises when it has taken too long."""
        look = self._guard(
            step(
                self._scope,
                f"LookAt{thing}",
                self._functions.check_job,
                {"job": _JOB, "at": thing.lower()},
                answer_at="$.looked",
                answer={"ready": "ready"},
            )
        )
        wait = self._wait(f"WaitFor{thing}", looked)
        wait.next(look)
        ready = sfn.Choice(self._scope, f"Is{thing}Ready")
        ready.when(sfn.Condition.boolean_equals("$.looked.ready", value=True), then).otherwise(wait)
        look.next(ready)
        return look

    def _on_job(
        self,
        name: str,
        callee: Callee,
        *,
        answer_at: str = sfn.JsonPath.DISCARD,
        answer: Mapping[str, str] | None = None,
    ) -> tasks.LambdaInvoke:
        return self._guard(step(self._scope, name, callee, {"job": _JOB}, answer_at=answer_at, answer=answer))

    def _guard(self, task: tasks.LambdaInvoke) -> tasks.LambdaInvoke:
        task.add_catch(self._rescue, errors=[EVERY_ERROR], result_path="$.error")
        return task
