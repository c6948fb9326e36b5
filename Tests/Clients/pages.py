"""The pages of the gateway in a browser, and what can be said against how they look."""

from pathlib import Path

import axe_core_python
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".build/artefacts"
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
LOOKS = [(1280, "light"), (1280, "dark"), (360, "light")]


class Pages:
    """The dashboard in a browser."""

    def __init__(self, browser, gateway):
        self.browser, self.gateway = browser, gateway
        # Paths of the API that answer 404 to a page, for what has no record; the browser logs each.
        self.without_record = []
        # Pages are filled anew while a test looks at them.
        self.wait = WebDriverWait(browser, 20, 0.05, [NoSuchElementException, StaleElementReferenceException])

    def open(self, hash=""):
        self.browser.get("about:blank")
        self.browser.get(self.gateway.url + "/#/" + hash)
        return self.titled()

    def titled(self, text=None):
        def is_there(page):
            titles = page.find_elements(By.CSS_SELECTOR, "main h1")
            return titles and page.title.endswith("Parley") and page.title != "Parley" and (
                text is None or titles[0].text == text) and titles[0].text
        return self.wait.until(is_there)

    def find(self, selector):
        return self.wait.until(lambda page: page.find_element(By.CSS_SELECTOR, selector))

    def text(self, text, selector="main"):
        self.wait.until(lambda page: text in page.find_element(By.CSS_SELECTOR, selector).text)

    def button(self, text, selector="main"):
        def one(page):
            return next((each for each in page.find_elements(By.CSS_SELECTOR, f"{selector} button, {selector} summary")
                         if each.text == text and each.is_displayed()), None)
        return self.wait.until(one)

    def press(self, text, selector="main"):
        def pressed(page):
            button = self.button(text, selector)
            page.execute_script("arguments[0].scrollIntoView({ block: 'center' })", button)
            button.click()
            return True
        self.wait.until(pressed)

    def type(self, name, value, selector="main"):
        field = self.find(f"{selector} [name='{name}']")
        field.clear()
        field.send_keys(value)

    def follow(self, text):
        self.wait.until(lambda page: page.find_element(By.LINK_TEXT, text)).click()

    def complaints(self):
        """What the browser itself has to say, but for the records that the test knows are none."""
        expected = [f"{self.gateway.url}{path} - Failed to load resource: the server responded with a status of 404"
                    for path in self.without_record]
        return [entry["message"] for entry in self.browser.get_log("browser")
                if entry["level"] == "SEVERE" and not entry["message"].startswith(tuple(expected))]


def complaints(browser):
    """What axe, at WCAG 2.1 AA, has against what is shown, and whether it is too wide."""
    browser.execute_script(AXE)
    found = browser.execute_async_script("""
        const [done] = arguments;
        axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }).then(
          result => done(result.violations.map(one => [one.id, one.nodes.slice(0, 3).map(node => node.html)])),
          error => done([String(error)]));""")
    if not browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"):
        found.append("wider than the window")
    return found


def shoot(browser, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    browser.save_screenshot(str(PICTURES / f"{name}.png"))
