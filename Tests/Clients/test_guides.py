"""Every block of every page works as it stands: see guides.py for what the blocks' languages mean."""

import re

import pytest
from guides import HOUSE, PAGES, Page


# Starts and stops gateways of its own, in a test of its own.
APART = {"operation.md"}


@pytest.mark.parametrize("path", [page for page in PAGES if page.name not in APART], ids=lambda path: path.name)
def test_the_page_works(path, gateway, receiver, tmp_path):
    page = Page(path)
    page.check(tmp_path)
    page.run(gateway, tmp_path, receiver.url)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_its_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_every_guide_is_in_the_readme():
    readme = (HOUSE / "README.md").read_text()
    assert [page.name for page in PAGES if page.parent.name == "docs" and f"docs/{page.name}" not in readme] == []
