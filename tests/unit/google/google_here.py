"""Google's REST APIs on loopback, as far as inventories ask them: what a test put there, in Google's own messages."""

import json
import re
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from google.cloud import compute_v1
from google.cloud.resourcemanager_v3 import Folder, Project

from plimsoll.clouds.common.dated_data import volume_types
from plimsoll.model.market import Provisioned
from plimsoll_google.clients import Clients

COMPUTE = "https://www.googleapis.com/compute/v1"
CREATED = "2026-01-02T03:04:05.678-08:00"
ATTACHED = "2026-02-03T04:05:06.789-08:00"
ASKED = {
    r"/compute/v1/projects/(?P<project>[^/]+)/aggregated/disks": "compute.disks.list",
    r"/compute/v1/projects/(?P<project>[^/]+)/aggregated/instances": "compute.instances.list",
    r"/compute/v1/projects/(?P<project>[^/]+)/regions": "compute.regions.list",
    r"/v3/projects/(?P<project>[^/]+)": "resourcemanager.projects.get",
    r"/v3/projects": "resourcemanager.projects.list",
    r"/v3/folders": "resourcemanager.folders.list",
}
"""The permission that each path needs (Compute Engine v1 and Resource Manager v3 references, read 2026-11-22)."""


def refusal(code, status, message, reason=None, older=None, **metadata):
    """An error as Google words it: the older list of errors, and the ErrorInfo that newer services give.

    Both have the same reason, if the older has none of its own.
    """
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": metadata,
    }
    error = {
        "code": code,
        "message": message,
        "status": status,
        "errors": [{"message": message, "domain": "global", "reason": older or reason or status}],
        "details": [info] if reason else [],
    }
    return code, {"error": error}


def denied(permission, project):
    """As Compute Engine refuses."""
    return refusal(403, "forbidden", f"Required '{permission}' permission for 'projects/{project}'")


def disabled(project, service="compute.googleapis.com"):
    """As every service refuses that is switched off."""
    message = f"{service} has not been used in project 4711 before or it is disabled. Enable it by visiting a page."
    return refusal(403, "PERMISSION_DENIED", message, "SERVICE_DISABLED", service=service, consumer="projects/4711")


@dataclass
class Google:
    """What there is, what is refused (by permission and project, each so many times), and what was asked.

    `spoil` makes of the permission and the JSON of an answer what is sent in its place: JSON, or bytes as they are.
    """

    disks: dict = field(default_factory=dict)
    instances: dict = field(default_factory=dict)
    regions: tuple = ("europe-west4", "us-central1")
    unreachable: dict = field(default_factory=dict)
    below: dict = field(default_factory=dict)
    numbers: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    spoil: object = None
    port: int = 0

    def disk(self, project, name, kind="pd-ssd", zone="us-central1-a", *, users=(), region=None, replicas=(), **fields):
        scope = f"regions/{region}" if region else f"zones/{zone}"
        place = f"{COMPUTE}/projects/{project}"
        where = (
            {"region": f"{place}/{scope}", "replica_zones": [f"{place}/zones/{one}" for one in replicas]}
            if region
            else {"zone": f"{place}/{scope}"}
        )
        made = compute_v1.Disk(
            **{
                "id": 1000 + sum(map(len, self.disks.values())),
                "name": name,
                "self_link": f"{place}/{scope}/disks/{name}",
                "type_": f"{place}/{scope}/diskTypes/{kind}",
                "size_gb": 100,
                "status": "READY",
                "creation_timestamp": CREATED,
                "last_attach_timestamp": ATTACHED if users else None,
                "users": [one.self_link for one in users],
                **where,
                **sold(kind),
                **fields,
            }
        )
        self.disks.setdefault(project, []).append((scope, made))
        for number, one in enumerate(users):
            one.disks.append(
                compute_v1.AttachedDisk(source=made.self_link, device_name=f"device-{name}-{number}", boot=False)
            )
        return made

    def instance(self, project, name, kind="n2-standard-8", zone="us-central1-a", **fields):
        made = compute_v1.Instance(
            id=9000 + sum(map(len, self.instances.values())),
            name=name,
            self_link=f"{COMPUTE}/projects/{project}/zones/{zone}/instances/{name}",
            machine_type=f"{COMPUTE}/projects/{project}/zones/{zone}/machineTypes/{kind}",
            **{"status": "RUNNING", "last_start_timestamp": CREATED, **fields},
        )
        self.instances.setdefault(project, []).append((f"zones/{zone}", made))
        return made

    def clients(self, **given):
        return Clients(url=f"http://127.0.0.1:{self.port}", monitoring="127.0.0.1:1", **{"attempts": 2, **given})

    def calls(self, project=None):
        return Counter(permission for permission, there in self.asked if project in {None, there})

    def answer(self, target):
        parts = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        for pattern, permission in ASKED.items():
            found = re.fullmatch(pattern, parts.path)
            if found:
                place = found.groupdict().get("project") or query.get("parent", "")
                self.asked.append((permission, place))
                refused = self.refused.get((permission, place)) or self.refused.get((permission, "*"))
                if refused:
                    return refused if isinstance(refused, tuple) else refused.pop(0)
                return 200, getattr(self, permission.replace(".", "_"))(place, query)
        return 404, {}

    def compute_disks_list(self, project, query):
        return self._page(compute_v1.DiskAggregatedList, "disks", self.disks.get(project, ()), project, query)

    def compute_instances_list(self, project, query):
        found = self.instances.get(project, ())
        return self._page(compute_v1.InstanceAggregatedList, "instances", found, project, query)

    def _page(self, kind, name, found, project, query):
        start, size = int(query.get("pageToken", 0)), int(query["maxResults"])
        nothing = {"warning": {"code": "NO_RESULTS_ON_PAGE"}}
        held = (*self.disks.get(project, ()), *self.instances.get(project, ()))
        zones = {scope for scope, _ in held if scope.startswith("zones/")}
        zones |= {f"zones/{last}" for _, one in held for last in zones_of(one)}
        items = dict.fromkeys((*(f"zones/{region}-z" for region in self.regions), *zones), nothing)
        for scope, one in found[start : start + size]:
            if items.get(scope, nothing) is nothing:
                items[scope] = {name: []}
            items[scope][name].append(one)
        token = str(start + size) if start + size < len(found) else None
        return kind(items=items, next_page_token=token, unreachables=self.unreachable.get(project, ()))

    def compute_regions_list(self, project, query):
        return compute_v1.RegionList(items=[compute_v1.Region(name=name) for name in self.regions])

    def resourcemanager_projects_get(self, number, query):
        return Project(name=f"projects/{number}", project_id=self.numbers[number])

    def resourcemanager_projects_list(self, parent, query):
        start, size = int(query.get("pageToken") or 0), 2
        found = [one for one in self.below.get(parent, ()) if isinstance(one, Project)]
        token = str(start + size) if start + size < len(found) else ""
        return {"projects": [json.loads(Project.to_json(one)) for one in found[start : start + size]]} | (
            {"nextPageToken": token} if token else {}
        )

    def resourcemanager_folders_list(self, parent, query):
        found = [one for one in self.below.get(parent, ()) if isinstance(one, Folder)]
        return {"folders": [json.loads(Folder.to_json(one)) for one in found]}


def sold(kind):
    """The figures that a type sells: Google names them whether somebody asked for them or not."""
    found = volume_types("google").get(kind)
    figures = {"provisioned_iops": 5000, "provisioned_throughput": 300}
    rules = {} if found is None else {"provisioned_iops": found.iops, "provisioned_throughput": found.throughput}
    return {name: figures[name] for name, rule in rules.items() if isinstance(rule, Provisioned)}


def zones_of(resource):
    """The zones of a regional disk's replicas."""
    return [url.rpartition("/")[2] for url in getattr(resource, "replica_zones", ())]


def written(answer):
    """An answer as JSON, with 64-bit numbers as text, as Google writes them."""
    return answer if isinstance(answer, dict) else json.loads(type(answer).to_json(answer))


@contextmanager
def google_here():
    """Google, answering on a free port until the block ends."""
    google = Google()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Asked, google))
    server.daemon_threads = True
    google.port = server.server_port
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield google
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Asked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def __init__(self, google, *given):
        self.google = google
        super().__init__(*given)

    def do_GET(self):
        status, answer = self.google.answer(self.path)
        answer = written(answer)
        if self.google.spoil and status == 200:
            answer = self.google.spoil(self.google.asked[-1][0], answer)
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def log_message(self, *given):
        pass
