"""Headless Chromium from Debian for pages of lpn viz, which it opens from disk."""

import contextlib
import os
import shutil
import tempfile
import time

import pytest

CHROMIUM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--disable-dev-shm-usage",
)


def missing():
    """What keeps pages from being opened here, or None."""
    for program, package in ((CHROMIUM, "chromium"), (DRIVER, "chromium-driver")):
        if not os.access(program, os.X_OK):
            return f"there is no {program}: apt-get install {package}"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "there is no selenium: apt-get install python3-selenium"
    return None


def require():
    reason = missing()
    if reason:
        pytest.skip(f"pages are not opened: {reason}")


@contextlib.contextmanager
def chromium(width=1500, height=950):
    """A Browser; its profile is removed afterwards."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    profile = tempfile.mkdtemp(prefix="lpnviz-profile-")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # The library of a sanitizer is for Python, which loads what it looks at.
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    driver = None
    try:
        driver = webdriver.Chrome(service=Service(DRIVER, env=env), options=options)
        driver.set_script_timeout(60)
        yield Browser(driver)
    finally:
        if driver is not None:
            driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


class Browser:
    """A window with one page."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, theme=None):
        """Opens a page from disk and waits until its net is drawn and its run is ready."""
        self.console()
        self.driver.get(f"file://{os.path.abspath(path)}")
        end = time.monotonic() + 60
        while not self.js("return document.documentElement.dataset.drawn === 'yes'"):
            assert time.monotonic() < end, f"{path} was not drawn within a minute: {self.console()}"
            time.sleep(0.02)
        if theme:
            self.js("lpnviz.setTheme(arguments[0])", theme)

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def wait(self, code, *arguments):
        """The value of an async function's body."""
        answer = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; const args = [...arguments].slice(0, -1);"
            f"(async (...a) => {{ {code} }})(...args).then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));",
            *arguments,
        )
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def seek(self, t):
        self.wait("await lpnviz.run.seek(a[0], true)", t)

    def settle(self):
        """After the timeline has drawn what was asked for."""
        self.wait("await new Promise((r) => setTimeout(r, 30)); await lpnviz.run?.timeline.paint()")

    def settle_wave(self):
        """The same of a page of lpn wave."""
        self.wait("await new Promise((r) => setTimeout(r, 30)); await lpnviz.timeline.paint()")

    def keys(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def console(self):
        """Messages since the last look that are errors or warnings."""
        return [
            e["message"]
            for e in self.driver.get_log("browser")
            if e["level"] in ("SEVERE", "WARNING")
        ]

    def screenshot(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.driver.save_screenshot(str(path))
