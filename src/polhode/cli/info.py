"""The command `polhode info`: what is in a file."""

from polhode.cli._app import print_json, print_summary
from polhode.studies.file_info import describe

_VERSIONS = ("polhode_version", "python_version", "numpy_version", "numba_version", "platform", "command", "source_digest",
             "torque_digest", "digest", "seed", "device", "dtype")


def run(file, as_json):
    """Print it."""
    told = describe(file)
    if as_json:
        print_json(told)
        return
    facts = told.pop("provenance")
    body = told.pop("body", None)
    if body:
        told["body"] = f"{body['name'] or 'unnamed'}, mass {body['mass']:g}"
        told["moments"] = body["moments"]
    told["bytes"] = f"{told['bytes']:,}"
    for key, values in told.pop("varies", {}).items():
        told[key] = _shown(values)
    if isinstance(told.get("step"), list):
        told["step"] = _shown(told["step"])
    known = facts.get("method_facts") or {}
    told |= {"order": known.get("order"), "from": known.get("reference")}
    told |= {key: facts[key] for key in _VERSIONS if facts.get(key)}
    print_summary(told.pop("title", "") or told["kind"], told)


def _shown(values):
    text = ", ".join(map(str, values[:6]))
    return text if len(values) <= 6 else f"{text}, ... ({len(values)} values)"
