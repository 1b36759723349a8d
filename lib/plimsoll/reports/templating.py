"""Templates of pages: text stands in them as text, and a name that nobody gave is an error."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates_of(package: str) -> Environment:
    """The templates of a package's folder `templates`."""
    return Environment(
        autoescape=True,
        loader=PackageLoader(package),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
