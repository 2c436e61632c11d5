"""How sharp the page draws while it plays: fewer pixels where frames come late, in node with times of our own."""

from pathlib import Path

from javascript_code import needs_node, run

SOURCE = Path(__file__).parents[2] / "web" / "src" / "sharpness.js"
SCRIPT = """
import { Sharpness } from "./sharpness.js";
globalThis.window = { devicePixelRatio: 1 };
// how long a frame takes at so many pixels of the canvas for one of the page, in milliseconds
const machines = {
    fast: () => 16.7,
    software: (ratio) => 10 + 12 * ratio * ratio,
    busy: () => 60,
    hiccup: (ratio, k) => (k < 20 ? 80 : 16.7),
};
const results = {};
for (const [name, takes] of Object.entries(machines)) {
    const one = new Sharpness();
    let now = 0;
    for (let k = 0; k < 900; k += 1) one.frame((now += takes(one.ratio(false), k)));
    results[name] = [one.ratio(false), one.ratio(true)];
}
console.log(JSON.stringify(results));
"""


@needs_node
def test_late_frames_have_fewer_pixels():
    files = {"sharpness.js": SOURCE.read_text("utf-8"), "package.json": '{"type": "module"}'}
    found = run(SCRIPT, **files)
    assert found["fast"] == [2, 2]
    assert found["software"] == [0.75, 2]  # 17 ms; a still picture takes its time
    assert found["busy"] == [1, 2]  # nothing helps: something else is slow
    assert found["hiccup"][0] >= 1  # forgiven
