"""Every block of every page works as it stands: see guides.py for what the blocks' languages mean."""

import re

import pytest
from guides import HOUSE, PAGES, Page


# They start and stop gateways of their own, in tests of their own.
APART = {"operation.md", "cluster.md"}


@pytest.mark.parametrize("path", [page for page in PAGES if page.name not in APART], ids=lambda path: path.name)
def test_the_page_works(path, gateway, receiver, tmp_path):
    page = Page(path)
    page.check(tmp_path)
    page.run(gateway, tmp_path, receiver.url)


# Pages of which nothing is run, but whose links have to lead somewhere.
READ = [HOUSE / "ARCHITECTURE.md", HOUSE / "CONTRIBUTING.md", *sorted((HOUSE / "docs/decisions").glob("*.md"))]


def anchors(path):
    """The fragments of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*PAGES, *READ], ids=lambda path: path.name)
def test_its_links_lead_somewhere(path):
    for target, fragment in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", path.read_text()):
        if target.startswith("http"):
            continue
        page = path.parent / target if target else path
        assert page.exists(), target
        assert not fragment or fragment in anchors(page), f"{target}#{fragment}"


def test_every_guide_is_in_the_readme():
    readme = (HOUSE / "README.md").read_text()
    assert [page.name for page in PAGES if page.parent.name == "docs" and f"docs/{page.name}" not in readme] == []


def test_the_index_lists_every_page():
    index = (HOUSE / "docs/README.md").read_text()
    assert [page.name for page in PAGES if f"({page.name})" not in index and page.name != "README.md"] == []


def test_every_decision_is_in_the_map():
    architecture = (HOUSE / "ARCHITECTURE.md").read_text()
    decisions = sorted((HOUSE / "docs/decisions").glob("*.md"))
    assert [page.name for page in decisions if f"(docs/decisions/{page.name})" not in architecture] == []
    for page in decisions:
        headings = re.findall(r"^## (.*)$", page.read_text(), re.M)
        assert headings == ["Decision", "Reason", "Cost", "Alternatives"], page.name
        assert re.search(r"^Date: \d{4}-\d\d-\d\d$", page.read_text(), re.M), page.name


def test_troubleshooting_shows_what_the_program_says():
    """Each code, log line, metric and member that is shown as a symptom is in the sources."""
    sources = "\n".join(path.read_text() for path in [*(HOUSE / "Sources").rglob("*.swift"), HOUSE / "openapi.yaml"])
    page = (HOUSE / "docs/troubleshooting.md").read_text()
    table = re.findall(r"^\| (?!symptom|---)(.*?) \| (.*?) \| (.*?) \|$", page, re.M)
    assert len(table) >= 25 and all(cause and remedy for _, cause, remedy in table)
    shown = {text for symptom, _, _ in table for text in re.findall(r"`([^`]+)`", symptom)}
    assert sorted(text for text in shown if text not in sources) == []


def test_the_glossary_has_each_term_once():
    terms = re.findall(r"^\| (?!term|---)(.*?) \|", (HOUSE / "docs/glossary.md").read_text(), re.M)
    assert terms == sorted(set(terms))
