"""Markdown as GitHub would show it, read back."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt

RENDER = MarkdownIt("commonmark", {"html": True, "typographer": False}).enable(["table", "strikethrough"])


class Shown(HTMLParser):
    """The text and the tags of a page, and the text outside of code, where GitHub looks for links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.outside = ""
        self._code = 0

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        self._code += tag == "code"

    def handle_endtag(self, tag):
        self._code -= tag == "code"

    def handle_data(self, data):
        self.text += data
        self.outside += "" if self._code else data

    def handle_comment(self, data):
        self.tags.append("comment")


def shown(text: str) -> Shown:
    page = Shown()
    page.feed(RENDER.render(text))
    page.close()
    return page
