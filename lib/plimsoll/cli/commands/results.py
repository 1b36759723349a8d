"""Commands that read runs: reports, queries, differences, pictures and messages to Slack."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from plimsoll.cli import options
from plimsoll.cli.option_groups import with_option_groups
from plimsoll.cli.plain_help import PlainTyper
from plimsoll.model.errors import BadInput

DIFF_FORMATS: Final = ("text", "json", "md")
QUERY_FORMATS: Final = ("table", "csv", "json", "parquet")


def report_command(
    run: options.RunFolder = None,
    format_: Annotated[
        str, typer.Option("--format", help="html, json, csv, parquet, changes, md, slack, slack-preview or terminal.")
    ] = "html",
    out: Annotated[
        Path | None,
        typer.Option(help="File to write (- is standard output, and slack's default). Default: in the run's folder."),
    ] = None,
    where: options.Where = None,
    volume: Annotated[
        list[str] | None,
        typer.Option(help="Only this volume (its id, or account/region/id); repeatable. With md: a ticket."),
    ] = None,
    sort: Annotated[str | None, typer.Option(help="What lists are sorted by: money, risk or losses.")] = None,
) -> None:
    """Write a run's report: the page to read, the data as files, Markdown for a ticket, or messages for Slack."""
    from plimsoll.cli.report import report_run

    report_run(run, format_=format_, out=out, where=where, volumes=tuple(volume or ()), sort=sort)


def serve_command(
    run: options.RunFolder = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any but this machine's own needs --name and --token-file.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any that is free.")] = 8642,
    name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST", help="What others call this machine; requests to any other name are refused. Repeatable."
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the token that others give as a password.")
    ] = None,
) -> None:
    """Show the newest run in a browser, also while its audit goes on, with each volume's history. It only reads."""
    from plimsoll.cli.serve import serve_run

    serve_run(run, host, port, name or (), token_file)


def query_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [SQL]", help="A run's folder (default: the newest), and a query in quotes."),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="table, csv, json or parquet.")] = "table",
    out: Annotated[Path | None, typer.Option(help="File to write. Default: standard output.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Most rows of a table; 0 shows all.")] = 40,
    file: Annotated[
        list[str] | None,
        typer.Option(help="A file of your own that the query may read, as it names it; repeatable."),
    ] = None,
) -> None:
    """Ask a run in SQL: recommendations, offers, demand and failures; without a query, list their columns."""
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.screen import Screen
    from plimsoll.output_files import write_lines
    from plimsoll.reports.csv_table import ENCODING
    from plimsoll.reports.data.database import open_runs
    from plimsoll.reports.data.exports import check_not_of_run, copy_parquet
    from plimsoll.reports.data.query_answer import csv_answer, json_answer, show_answer, show_views
    from plimsoll.reports.printable import put_out

    run, sql = _run_and_query(words or [])
    if format_ not in QUERY_FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(QUERY_FORMATS)}.")
    if out is not None and format_ == "table":
        raise BadInput("a table is for the terminal: give --out with --format csv, json or parquet.")
    if out is None and format_ == "parquet":
        raise BadInput("Parquet is a file: say with --out where it goes.")
    folder, console = run_folder(run), Screen()
    with open_runs(folder, files=tuple(file or ())) as database:
        if sql is None:
            show_views(console, database)
            return
        asked = database.statement(sql)
        if out is not None:
            check_not_of_run(out, folder)
        if format_ == "table":
            show_answer(console, database, asked, rows)
        elif out is None:
            put_out(csv_answer(database, asked) if format_ == "csv" else json_answer(database, asked))
        elif format_ == "parquet":
            copy_parquet(database, asked, out)
        elif format_ == "csv":
            write_lines(csv_answer(database, asked), out, ENCODING)
        else:
            write_lines(json_answer(database, asked), out, "utf-8")


def _run_and_query(words: list[str]) -> tuple[Path | None, str | None]:
    """A run and a query, in whichever order; each may be left out. The folder of a run is no query."""
    from plimsoll.api.runs import is_run

    if len(words) > 2:
        raise BadInput('give a run and one query in quotes, such as: plimsoll query RUN "select * from offers".')
    runs = [word for word in words if is_run(Path(word))]
    others = [word for word in words if word not in runs]
    if len(others) == 2:
        return Path(others[0]), others[1]
    return Path(runs[0]) if runs else None, others[0] if others else None


def diff_command(
    before: Annotated[Path, typer.Argument(help="The folder of the earlier run.")],
    after: Annotated[Path, typer.Argument(help="The folder of the later run.")],
    format_: Annotated[str, typer.Option("--format", help="text, json or md.")] = "text",
    rows: Annotated[int, typer.Option(min=0, help="Most volumes listed of each group; 0 lists all.")] = 10,
) -> None:
    """Compare two runs: what is new, gone, changed and done, and what has been saved since."""
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.audit_reports import order_runs
    from plimsoll.cli.screen import Screen
    from plimsoll.reports.diff.comparison import compare_runs
    from plimsoll.reports.diff.render import json_diff, markdown_diff, show_diff
    from plimsoll.reports.printable import put_out

    if format_ not in DIFF_FORMATS:
        raise BadInput(f"--format {format_}: it must be one of {', '.join(DIFF_FORMATS)}.")
    with compare_runs(*order_runs(run_folder(before), run_folder(after))) as comparison:
        if format_ == "text":
            show_diff(Screen(), comparison, rows)
        else:
            put_out(json_diff(comparison) if format_ == "json" else [markdown_diff(comparison)])


def schema_command(
    of: Annotated[
        str, typer.Argument(help="recommendations, or a kind of event: AuditCompleted, RecommendationNew ...")
    ] = "recommendations",
) -> None:
    """Print the JSON Schema of recommendations.json, or of the detail of an event."""
    from plimsoll.reports import record
    from plimsoll.service.events import EVENT_KINDS, event_schema

    if of not in {"recommendations", *EVENT_KINDS}:
        raise BadInput(f"there is no schema of {of}: give recommendations or one of {', '.join(EVENT_KINDS)}.")
    typer.echo(json.dumps(event_schema(of) if of in EVENT_KINDS else record.schema(), indent=2))


chart_command = PlainTyper(help="Draw a volume's demand, and rooflines, as SVG or PNG.")


@chart_command.command(name="demand")
@with_option_groups
def chart_demand(
    words: options.VolumeWords,
    *,
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
) -> None:
    """Draw a volume's demand over time with its ceilings: of a run, or read by the minute as `explain` does."""
    from plimsoll.cli.chart import draw_demand
    from plimsoll.cli.run_volume import live_from, volume_and_run

    volume, run = volume_and_run(words, picture.run)
    live = live_from(run, from_, policy, scope, fresh=fresh)
    draw_demand(volume, live, replace(picture, run=run))


@chart_command.command(name="roofline")
@with_option_groups
def chart_roofline(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="A volume id, names of envelopes, or both; a run too.")
    ],
    *,
    picture: options.PictureOptions,
    scope: options.ScopeOptions,
    policy: options.PolicyOptions,
    fresh: options.Fresh = False,
    from_: options.FromRecording = None,
) -> None:
    """Draw demand under its ceilings over I/O size and IOPS, measured envelopes, or demand over envelopes."""
    from plimsoll.cli.chart import draw_roofline
    from plimsoll.cli.run_volume import live_from, names_and_run

    drawn_names, run = names_and_run(names, picture.run)
    draw_roofline(drawn_names, live_from(run, from_, policy, scope, fresh=fresh), replace(picture, run=run))


slack_command = PlainTyper(help="Post a run's report to Slack, and print the manifest of the app.")


@slack_command.command(name="post")
@with_option_groups
def post(*, run: options.RunFolder = None, what: options.PostOptions) -> None:
    """Post a run to a channel, with a reply for each account; the token is in PLIMSOLL_SLACK_BOT_TOKEN."""
    from plimsoll.api.runs import run_folder
    from plimsoll.cli.slack import post_run, post_run_by_webhook, show_run

    if what.dry_run:
        show_run(run_folder(run), what)
    elif what.webhook:
        post_run_by_webhook(run_folder(run), what)
    elif what.channel is not None:
        post_run(run_folder(run), what, what.channel)
    else:
        raise BadInput("say where to: --channel C0123456789, --webhook, or --dry-run to look at it first.")


@slack_command.command(name="manifest")
def manifest(
    url: Annotated[str, typer.Argument(help="The https address of the function that answers Slack.")],
) -> None:
    """Print the manifest to paste where Slack creates an app: https://api.slack.com/apps, from a manifest."""
    from plimsoll.slack.manifest import app_manifest as written

    typer.echo(written(url))
