"""Messages between states are typed by the step that a function carries out: its message and its answer."""

import inspect
from importlib import import_module

import pytest

from functions.entry_point import message_types

from .test_state_machines import MACHINES, states_of, tasks_of


def types_of(task):
    """The types of the step that a task's function carries out."""
    name = task["Parameters"]["FunctionName"].removeprefix("${").removesuffix(".handler}")
    return message_types(inspect.unwrap(import_module(name).handler))


def aliases_of(name, field):
    choices = getattr(field.validation_alias, "choices", [field.validation_alias])
    return {name, field.alias, *choices} - {None}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_state_gives_each_key_that_its_step_needs(templates, machine):
    tasks = tasks_of(templates.definition(machine))
    assert tasks
    for name, task in tasks.items():
        given = {key.removesuffix(".$") for key in task["Parameters"]["Payload"]}
        for field_name, field in types_of(task)["message"].model_fields.items():
            assert not field.is_required() or given & aliases_of(field_name, field), (name, field_name)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_state_takes_no_key_that_its_step_does_not_answer(templates, machine):
    states = dict(states_of(templates.definition(machine)))
    taken = []
    for name, task in tasks_of(templates.definition(machine)).items():
        selected = {path.removeprefix("$.Payload.") for path in task.get("ResultSelector", {}).values()}
        following = states.get(task.get("Next"), {})
        if task.get("OutputPath") == "$.Payload":
            selected |= {choice["Variable"].removeprefix("$.") for choice in following.get("Choices", ())}
        answer = types_of(task)["return"]
        assert selected <= set(getattr(answer, "model_fields", ())), name
        taken += selected
    assert taken
