"""Redraws the pictures of the README with the commands it names; needs chromium and playwright.

python docs/images/make.py
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "flip.toml"
MOMENT = 2.6  # seconds: the box is half way over


def polhode(*arguments, folder):
    subprocess.run(
        [sys.executable, "-m", "polhode", *map(str, arguments)],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def shoot(page, picture):
    """The page at one moment, as a reader with a light theme sees it."""
    flags = [
        "--headless=new",
        "--no-sandbox",
        "--enable-unsafe-swiftshader",
        "--use-angle=swiftshader",
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        tab = browser.new_page(viewport={"width": 1200, "height": 720}, reduced_motion="reduce")
        tab.goto(page.as_uri())
        tab.evaluate(f"polhode.viewer.seek({MOMENT}); polhode.viewer.switch('trace')")
        tab.wait_for_timeout(1000)
        tab.screenshot(path=picture)
        browser.close()


def shrink(picture, width=1200):
    """A palette and a moderate width: small enough to keep in the repository."""
    with Image.open(picture) as image:
        image = image.convert("RGB")
        if image.width > width:
            image = image.resize(
                (width, round(image.height * width / image.width)), Image.Resampling.LANCZOS
            )
        image.quantize(192, dither=Image.Dither.NONE).save(picture, optimize=True)


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    polhode("run", EXAMPLE, "-o", "flip.nc", "--plot", "overview.png", folder=folder)
    polhode("view", "flip.nc", folder=folder)
    shoot(folder / "flip.html", HERE / "page.png")
    shutil.copy(folder / "overview.png", HERE / "overview.png")
for name in ("page.png", "overview.png"):
    shrink(HERE / name)
