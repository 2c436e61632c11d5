"""A real browser for the tests of the page: chromium, whether it is there or not is said once."""

import os
import shutil
import time

import pytest

# Without a display and without a graphics card: the new headless mode, and WebGL in software.
FLAGS = ["--headless=new", "--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
NAMES = (os.environ.get("POLHODE_BROWSER") or "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def launch():
    """Starts a browser with the flags given; all are closed at the end."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="the browser tests need playwright: pip install playwright"
    )
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(
            "no browser for the tests of the page: install chromium, or set POLHODE_BROWSER to a browser"
        )
    with api.sync_playwright() as playwright:
        yield lambda flags: playwright.chromium.launch(executable_path=found, args=flags)


@pytest.fixture(scope="session")
def browser(launch):
    return launch(FLAGS)


@pytest.fixture
def browser_without_webgl(launch):
    return launch([*FLAGS[:2], "--disable-3d-apis"])


class Tab:
    """A page in the browser, with everything it complained of and asked for: a file offline, or an
    address."""

    def __init__(self, browser, path, **options):
        options = {
            "viewport": {"width": 900, "height": 560},
            "reduced_motion": "reduce",
            "color_scheme": "light",
        } | options
        address = path if isinstance(path, str) else path.as_uri()
        self.context = browser.new_context(offline=address.startswith("file:"), **options)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.settle()

    def settle(self):
        """Two frames: what was asked for has been drawn."""
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    def wait(self, condition, seconds=60):
        """Wait until an expression is true.  It is evaluated from here: playwright's own waiting
        calls eval in the page, which the page's content security policy forbids."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"not true after {seconds} s: {condition}"
            self.page.wait_for_timeout(20)

    def do(self, code, value=None):
        """Evaluate a function of the viewer and one value, then wait until it is drawn."""
        result = self.page.evaluate(f"value => ({code})(polhode.viewer, value)", value)
        self.settle()
        return result

    def state(self):
        return self.page.evaluate("polhode.viewer.state()")

    def seek(self, time):
        """By the slider, as a reader would."""
        move = (
            "(slider, time) => { slider.value = time; slider.dispatchEvent(new Event('input')); }"
        )
        self.page.locator(".slider").evaluate(move, time)
        self.settle()

    def pixels(self):
        """The canvas as (share of pixels drawn, number of colours)."""
        return self.do("""viewer => {
            viewer.picture();
            const copy = document.createElement("canvas"), from = viewer.canvas;
            [copy.width, copy.height] = [from.width, from.height];
            const context = copy.getContext("2d");
            context.drawImage(from, 0, 0);
            const data = context.getImageData(0, 0, copy.width, copy.height).data, colours = new Set();
            let drawn = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] > 0) { drawn += 1; colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]); }
            return [4 * drawn / data.length, colours.size];
        }""")

    def overflow(self):
        """By how many pixels the page is wider than the window."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )


@pytest.fixture
def tab(browser):
    """Opens pages and closes them afterwards."""
    opened = []

    def open_tab(path, browser=browser, **options):
        opened.append(Tab(browser, path, **options))
        return opened[-1]

    yield open_tab
    for one in opened:
        one.context.close()
