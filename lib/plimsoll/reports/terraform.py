"""Changes in Terraform's own files: a patch of the configuration that made each volume, or what has to change by hand.

Volumes are found by their id in the state; the configuration is read by a parser that keeps comments and layout.
"""

import difflib
import json
import os.path
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import tree_sitter_hcl
from tree_sitter import Language, Parser

from plimsoll.files import write_lines
from plimsoll.model.errors import BadInput
from plimsoll.reports.record import RecommendationRecord, SpecRecord

PATCH: Final = "terraform.patch"
BACK_PATCH: Final = "terraform.back.patch"
NOTES: Final = "terraform.txt"
"""The files: the patch of the configuration, the one that takes it back, and what no patch can do."""

_EBS: Final = ("type", "size", "iops", "throughput")
_BLOCK: Final = ("volume_type", "volume_size", "iops", "throughput")
_DISK: Final = (None, "size", "provisioned_iops", "provisioned_throughput")
_NAMES: Final[Mapping[tuple[str, str], tuple[str | None, ...]]] = {
    ("aws_ebs_volume", ""): _EBS,
    ("aws_instance", "root_block_device"): _BLOCK,
    ("google_compute_disk", ""): _DISK,
    ("google_compute_region_disk", ""): _DISK,
}
"""The attributes of type, size, IOPS and MiB/s, by the resource and its block; no disk's type is edited."""

_CHECKED: Final = (
    "Old providers leave figures out, and apply returns before the change is complete: check the volume afterwards."
)
_INSTANCE_BLOCK: Final = (
    "it is an ebs_block_device of this instance: Terraform shows no difference, or replaces the instance. Give it an "
    "aws_ebs_volume and an aws_volume_attachment of its own, or put ebs_block_device into ignore_changes and change it "
    "by the API."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePlace:
    """A volume's place in a state: its resource's address, and the block of it that describes the volume."""

    address: str
    block: str = ""

    @property
    def parts(self) -> tuple[tuple[str, ...], str, str]:
        """The names of the modules from the root, the resource's type and its name, without keys of instances."""
        plain = re.sub(r"\[(?:\"(?:[^\"\\]|\\.)*\"|\d+)\]", "", self.address).split(".")
        modules = tuple(plain[at + 1] for at in range(0, len(plain) - 2, 2) if plain[at] == "module")
        return modules, plain[-2], plain[-1]

    @property
    def key(self) -> tuple[tuple[str, ...], str, str, str]:
        """All instances of one block of the configuration share it."""
        return (*self.parts, self.block)


def read_places(source: Path) -> dict[str, StatePlace]:
    """The places of volumes by id, from a folder's state, a state file or the output of `terraform show -json`."""
    path = source / "terraform.tfstate" if source.is_dir() else source
    if not path.is_file():
        raise BadInput(f"{source} has no state: give --terraform a file of `terraform show -json` as well.")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        shown = state["values"]["root_module"] if "values" in state else None
        resources = list(_list_module(shown) if shown is not None else _list_state(state["resources"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} is no Terraform state, nor the output of `terraform show -json`.") from error
    return {volume: place for address, kind, values in resources for volume, place in _volumes(address, kind, values)}


_Resource = tuple[str, str, Mapping[str, Any]]


def _list_module(module: Mapping[str, Any]) -> Iterator[_Resource]:
    for resource in module.get("resources", ()):
        yield resource["address"], resource["type"], resource.get("values") or {}
    for child in module.get("child_modules", ()):
        yield from _list_module(child)


def _list_state(resources: Iterable[Mapping[str, Any]]) -> Iterator[_Resource]:
    for resource in resources:
        stem = f"{resource['module']}." if resource.get("module") else ""
        for instance in resource["instances"] if resource.get("mode") == "managed" else ():
            key = f"[{json.dumps(instance['index_key'])}]" if "index_key" in instance else ""
            yield f"{stem}{resource['type']}.{resource['name']}{key}", resource["type"], instance["attributes"]


def _volumes(address: str, kind: str, values: Mapping[str, Any]) -> Iterator[tuple[str, StatePlace]]:
    if kind == "aws_instance":
        for block in ("root_block_device", "ebs_block_device"):
            for device in values.get(block) or ():
                if device.get("volume_id"):
                    yield device["volume_id"], StatePlace(address=address, block=block)
    elif (kind, "") in _NAMES:
        volume = values.get("disk_id") or values.get("id") if kind.startswith("google") else values.get("id")
        if volume:
            yield str(volume), StatePlace(address=address)


def write_terraform(records: Iterable[RecommendationRecord], sources: Sequence[Path], out: Path) -> list[Path]:
    """Writes the patches of the configuration and what they leave to people; gives the files that were written."""
    folder = next((source for source in sources if source.is_dir()), None)
    if folder is None:
        raise BadInput("--terraform needs the folder of the configuration.")
    states = [source for source in sources if not source.is_dir()] or [folder]
    places: dict[str, StatePlace] = {}
    for state in states:
        places |= read_places(state)
    configuration = Configuration(folder)
    notes = list(_edit_all([record for record in records if record.volume_id in places], places, configuration))
    written = []
    patches = {PATCH: configuration.patch(), BACK_PATCH: configuration.patch(back=True)}
    for name, text in {**patches, NOTES: "".join(f"{line}\n" for line in notes)}.items():
        (out / name).unlink(missing_ok=True)
        if text:
            write_lines([text], out / name, "utf-8")
            written.append(out / name)
    return written


def _edit_all(
    records: Sequence[RecommendationRecord], places: Mapping[str, StatePlace], configuration: "Configuration"
) -> Iterator[str]:
    """Edits what can be edited, and says of each volume where that was, or why not."""
    targets = {record.volume_id: record.target for record in records if record.target is not None}
    for record in sorted(records, key=lambda record: (places[record.volume_id].address, record.volume_id)):
        place, target = places[record.volume_id], targets.get(record.volume_id)
        if target is None:
            continue
        wanted = f"{record.volume_id}, {place.address}, to {target.type} {figures_text(target)}"
        shared = {volume: targets.get(volume) for volume, other in places.items() if other.key == place.key}
        if (place.parts[1], place.block) not in _NAMES:
            yield f"{wanted}: {_INSTANCE_BLOCK}"
        elif any(other is None or other != target for other in shared.values()):
            yield (
                f"{wanted}: the same block makes {len(shared)} volumes, and not all of them get this "
                "configuration. Give each a block of its own."
            )
        elif record.provider == "google" and target.type != record.current.type:
            yield (
                f"{wanted}: editing its type would delete the disk. The volume's own change makes a second "
                "disk beside it."
            )
        else:
            problems = configuration.edit(place, record.current, target)
            yield from (f"{wanted}: {problem}" for problem in problems or [f"see {PATCH}. {_CHECKED}"])


def figures_text(spec: SpecRecord) -> str:
    """The size, IOPS and MiB/s of a configuration."""
    figures = {"GiB": spec.size_gib, "IOPS": spec.iops, "MiB/s": spec.throughput_mib_s}
    return ", ".join(f"{figure:,} {unit}" for unit, figure in figures.items() if figure is not None)


class Configuration:
    """The files of a configuration, as they were and as they are edited."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before: dict[Path, bytes] = {}
        self._now: dict[Path, bytes] = {}

    def edit(self, place: StatePlace, now: SpecRecord, target: SpecRecord) -> list[str]:
        """Sets the figures of a volume's block; the reasons why it cannot, and then nothing is edited."""
        modules, kind, name = place.parts
        folder = self._module_folder(modules)
        if folder is None:
            call = self._find_call(modules)
            where = f" in {self._name(call[0])}" if call else ""
            return [f"module {'.'.join(modules)} is not kept here: change the inputs of its call{where}."]
        resource = self._find_block(folder, "resource", kind, name)
        if resource is None:
            return [f"no resource {kind}.{name} stands in {folder}."]
        path, block = resource
        if place.block:
            inner = [node for node in _children(block, "block") if _words(node)[0] == place.block]
            if len(inner) != 1:
                return [f"the resource in {path.name} has no {place.block} of its own: write one with these figures."]
            block = inner[0]
        names = _NAMES[(kind, place.block)]
        values = dict(zip(names, _literals(target), strict=True))
        was = dict(zip(names, _literals(now), strict=True))
        wanted = {key: value for key, value in values.items() if key and (value != was[key] or key not in _SIZES)}
        attributes = _attributes(block)
        problems = [
            f"{key} in {self._name(path)} is {self._trace(modules, _expression(attributes[key]))}: change that to "
            f"{value or 'null'}."
            for key, value in wanted.items()
            if key in attributes and not _is_literal(attributes[key])
        ]
        if not problems:
            self._now[path] = _set_attributes(self._now[path], block, attributes, names, wanted)
        return problems

    def _module_folder(self, modules: Sequence[str]) -> Path | None:
        """The folder of a module that the configuration calls by a path; None if it comes from elsewhere."""
        folder = self._folder
        for module in modules:
            call = self._find_block(folder, "module", module)
            source = _attributes(call[1]).get("source") if call else None
            path = "" if source is None else _expression(source).strip('"')
            if not path.startswith(("./", "../")):
                return None
            folder = folder / path
        return folder

    def _find_call(self, modules: Sequence[str]) -> tuple[Path, Any] | None:
        """The file and block of a module's call; None for the root, and where the caller is not kept here."""
        folder = self._module_folder(modules[:-1]) if modules else None
        return None if folder is None else self._find_block(folder, "module", modules[-1])

    def _trace(self, modules: Sequence[str], expression: str) -> str:
        """The expression; for a variable or a local value also the file that sets it, if known."""
        match = re.fullmatch(r"(var|local)\.([\w-]+)", expression)
        setting = None if match is None else self._find_setting(modules, *match.groups())
        if setting is None:
            return f"`{expression}`"
        path, value, caller = setting
        return f"`{expression}`, set in {self._name(path)} as {self._trace(caller, value)}"

    def _find_setting(self, modules: Sequence[str], kind: str, name: str) -> tuple[Path, str, Sequence[str]] | None:
        """The file that sets a variable or a local value, the expression, and the module in which that stands.

        A module's variable is set by its call, the root's by files of variables; else its default holds.
        """
        folder = self._module_folder(modules)
        if folder is None:
            return None
        if kind == "local":
            places = [(path, block) for path, block in self._list_blocks(folder) if _words(block) == ["locals"]]
            return self._first_of(places, name, modules)
        call, default = self._find_call(modules), self._find_block(folder, "variable", name)
        by_caller = self._first_of([call], name, modules[:-1]) if call else None
        by_file = None if modules else _value_in_files(folder, name)
        by_default = self._first_of([default], "default", modules) if default else None
        return by_caller or by_file or by_default

    def _first_of(
        self, places: Sequence[tuple[Path, Any]], name: str, modules: Sequence[str]
    ) -> tuple[Path, str, Sequence[str]] | None:
        """The first of some blocks that sets a name, with the expression, which stands in that module."""
        settings = ((path, _attributes(block).get(name)) for path, block in places)
        return next(((path, _expression(node), modules) for path, node in settings if node is not None), None)

    def _name(self, path: Path) -> str:
        return _relative(path, self._folder)

    def _find_block(self, folder: Path, *words: str) -> tuple[Path, Any] | None:
        """The file and block of a resource, a module's call or a variable, by the words that begin it."""
        return next(((path, block) for path, block in self._list_blocks(folder) if _words(block) == [*words]), None)

    def _list_blocks(self, folder: Path) -> Iterator[tuple[Path, Any]]:
        """Yields the blocks of a folder's files."""
        for path in sorted(folder.glob("*.tf")):
            self._before.setdefault(path, path.read_bytes())
            tree = _parse(self._now.setdefault(path, self._before[path]))
            for body in _children(tree, "body"):
                yield from ((path, block) for block in _children(body, "block"))

    def patch(self, *, back: bool = False) -> str:
        """The unified diff of all that was edited, with paths from the configuration's folder."""
        texts = []
        for path in sorted(self._now):
            pair = [files[path].decode().splitlines(keepends=True) for files in (self._before, self._now)]
            name = _relative(path, self._folder)
            first, second = reversed(pair) if back else pair
            lines = difflib.unified_diff(first, second, f"a/{name}", f"b/{name}")
            texts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
        return "".join(texts)


_SIZES: Final = frozenset({"size", "volume_size"})


def _value_in_files(folder: Path, name: str) -> tuple[Path, str, Sequence[str]] | None:
    """The file of variables that sets one, with the value: the last in the order in which Terraform reads them."""
    automatic = sorted((*folder.glob("*.auto.tfvars"), *folder.glob("*.auto.tfvars.json")), key=lambda path: path.name)
    files = [folder / "terraform.tfvars", folder / "terraform.tfvars.json", *automatic]
    values = ((path, _values_of(path).get(name)) for path in reversed(files) if path.is_file())
    return next(((path, value, ()) for path, value in values if value is not None), None)


def _values_of(path: Path) -> dict[str, str]:
    """The values of a file of variables, as it writes them. Raises BadInput for a damaged JSON file."""
    if path.suffix != ".json":
        bodies = _children(_parse(path.read_bytes()), "body")
        return {name: _expression(node) for body in bodies for name, node in _attributes(body).items()}
    try:
        return {name: json.dumps(value) for name, value in json.loads(path.read_bytes()).items()}
    except (ValueError, AttributeError) as error:
        raise BadInput(f"{path} is not a JSON object of variables: correct it, as Terraform reads it too.") from error


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _literals(spec: SpecRecord) -> tuple[str | None, ...]:
    figures = (spec.size_gib, spec.iops, spec.throughput_mib_s)
    return (json.dumps(spec.type), *(None if figure is None else str(figure) for figure in figures))


def _parse(text: bytes) -> Any:
    return Parser(Language(tree_sitter_hcl.language())).parse(text).root_node


def _children(node: Any, kind: str) -> list[Any]:
    """The children of a kind; a block's stand in its body."""
    bodies = [child for child in node.named_children if child.type == "body"] if node.type == "block" else [node]
    return [child for body in bodies for child in body.named_children if child.type == kind]


def _words(block: Any) -> list[str]:
    heads = (node for node in block.named_children if node.type in {"identifier", "string_lit"})
    return [_text(node).strip('"') for node in heads]


def _attributes(block: Any) -> dict[str, Any]:
    return {_text(node.named_children[0]): node for node in _children(block, "attribute")}


def _expression(attribute: Any) -> str:
    return _text(attribute.named_children[1])


def _text(node: Any) -> str:
    return str(node.text.decode())


def _is_literal(attribute: Any) -> bool:
    return re.fullmatch(r'"[^"$%\\]*"|\d+', _expression(attribute)) is not None


def _set_attributes(
    text: bytes,
    block: Any,
    attributes: Mapping[str, Any],
    names: Sequence[str | None],
    wanted: Mapping[str, str | None],
) -> bytes:
    """The text with a block's attributes set, removed if their value is None, and aligned as `terraform fmt` does.

    Those that are new stand behind the last of `names` that is there.
    """
    lines = text.splitlines(keepends=True)
    head = block.start_point.row
    ending = b"\r\n" if lines[head].endswith(b"\r\n") else b"\n"
    indent = b" " * (len(lines[head]) - len(lines[head].lstrip()) + 2)
    after = max((attributes[key].end_point.row for key in names if key and key in attributes), default=head)
    new = [
        indent + f"{key} = {value}".encode() + ending
        for key, value in wanted.items()
        if value and key not in attributes
    ]
    edited: list[list[bytes]] = [[line] for line in lines]
    for key, value in wanted.items():
        if key in attributes:
            row, span = attributes[key].start_point.row, attributes[key].named_children[1]
            line = lines[row]
            now = line[: span.start_point.column] + (value or "").encode() + line[span.end_point.column :]
            edited[row] = [now] if value else []
    edited[after] += new
    touched = [line for at, group in enumerate(edited) if group != [lines[at]] for line in group]
    return b"".join(_align([line.decode() for group in edited for line in group], {line.decode() for line in touched}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assignment:
    """A line that assigns a whole expression: its parts, with the comment behind it and its ending."""

    indent: str
    name: str
    value: str
    comment: str
    ending: str


_ASSIGNED: Final = re.compile(r"(\s+)([\w-]+)\s*=\s*([^=\s].*?)(\r?\n)", re.DOTALL)
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|#.*|//.*|[\[{(]|[\]})]')


def _assignment(line: str) -> _Assignment | None:
    """The parts of a line that assigns; None if its expression goes on in the next line."""
    match = _ASSIGNED.fullmatch(line)
    if match is None or "<<" in line:
        return None
    value, depth, comment = match[3], 0, ""
    for token in _TOKEN.finditer(value):
        if token[0].startswith(("#", "//")):
            comment, value = token[0].rstrip(), value[: token.start()]
            break
        depth += {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}.get(token[0], 0)
    if depth:
        return None
    return _Assignment(indent=match[1], name=match[2], value=value.rstrip(), comment=comment, ending=match[4])


def _align(lines: Sequence[str], touched: Set[str]) -> Iterator[bytes]:
    """The lines, with the `=` of each run of assignments that was touched in one column, and so their comments."""
    for is_run, group in groupby(lines, lambda line: _assignment(line) is not None):
        run = list(group)
        if is_run and not touched.isdisjoint(run):
            run = _align_run([assignment for line in run if (assignment := _assignment(line)) is not None])
        yield from (line.encode() for line in run)


def _align_run(run: Sequence[_Assignment]) -> list[str]:
    width = max(len(line.name) for line in run)
    texts = []
    for commented, group in groupby(run, lambda line: bool(line.comment)):
        shown = [(f"{line.indent}{line.name:{width}} = {line.value}", line) for line in group]
        column = max(len(text) for text, _ in shown) if commented else 0
        texts += [f"{text:{column}} {line.comment}".rstrip() + line.ending for text, line in shown]
    return texts
