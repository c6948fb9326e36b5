"""The API reference at /docs: everything that is described, found and readable."""

import json

import pytest
import yaml
from pages import LOOKS, ROOT, Pages, complaints, shoot
from selenium.webdriver.common.by import By


class Reference(Pages):
    def open(self, hash=""):
        self.browser.get("about:blank")
        self.browser.get(self.gateway.url + "/docs" + hash)
        self.wait.until(lambda page: page.find_elements(By.CSS_SELECTOR, "main section"))


@pytest.fixture
def reference(gateway, browser):
    reference = Reference(browser, gateway)
    yield reference
    assert reference.complaints() == []


def test_the_reference_has_every_operation_and_schema(reference):
    described = yaml.safe_load((ROOT / "openapi.yaml").read_text())
    reference.open()
    shown = reference.browser.execute_script(
        "return [...document.querySelectorAll('main section > details')].map(each => each.id)")
    operations = {
        operation["operationId"] for item in described["paths"].values() for method, operation in item.items()
        if method != "parameters"}
    assert operations | {"schema-" + name for name in described["components"]["schemas"]} == set(shown)
    # Written out, each of them.
    assert reference.browser.execute_async_script("""
        const done = arguments[0], all = [...document.querySelectorAll("main section > details")];
        all.forEach(each => { each.open = true; });
        setTimeout(() => done(all.filter(each => each.children.length < 2).map(each => each.id)));""") == []


def test_the_reference_is_searched_and_linked_to(reference):
    reference.open("#getStream")
    opened = reference.find("#getStream")
    assert opened.get_attribute("open") and "Last-Event-ID" in opened.text and "curl" in opened.text
    box = reference.find("#find")
    box.send_keys("rotate secret webhook")

    def shown(page):
        operations = page.find_elements(By.CSS_SELECTOR, ".operation")
        return [each.get_attribute("id") for each in operations if each.is_displayed()]
    reference.wait.until(lambda page: shown(page) == ["rotateSecret"])
    box.send_keys(" nonsense")
    reference.text("Nothing matches the search.")


@pytest.mark.parametrize("width, scheme", LOOKS)
def test_the_reference_can_be_read_by_everybody(reference, shape, width, scheme):
    shape(width, scheme)
    reference.open("#postWebhook")
    shoot(reference.browser, f"docs-{width}-{scheme}")
    assert complaints(reference.browser) == []


def test_the_description_is_read_as_a_full_parser_reads_it(gateway, browser):
    class Plain(yaml.SafeLoader):
        yaml_implicit_resolvers = {
            first: [(tag, form) for tag, form in forms if not tag.endswith(":timestamp")]
            for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()}

    browser.get(gateway.url + "/livez")
    read = browser.execute_async_script("""
        const done = arguments[0];
        import("/dashboard/yaml.js").then(async ({ parseYAML }) => {
          const text = await (await fetch("/openapi.yaml")).text();
          done(JSON.stringify(parseYAML(text)));
        }).catch(error => done(String(error)));""")
    assert json.loads(read) == json.loads(json.dumps(yaml.load((ROOT / "openapi.yaml").read_text(), Plain)))
