"""`polhode export`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polhode.cli.completion import complete_language, complete_method
from polhode.cli.options import Force

GROUP = "Methods"


def export(
    method: Annotated[
        str,
        typer.Argument(
            help="The name of a method, or FILE.py or FILE.py:NAME for one of your own.",
            autocompletion=complete_method,
        ),
    ],
    language: Annotated[
        str,
        typer.Option(
            help="c, cpp, rust, javascript, csharp, wgsl, wasm, or object for machine code.",
            autocompletion=complete_language,
        ),
    ] = "c",
    torque: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.py:NAME",
            help="A torque or a load of polhode.flight for the file; without it the file calls a function of yours.",
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A parameter of the torque; may be repeated."
        ),
    ] = None,
    moments: Annotated[
        str | None,
        typer.Option(
            metavar="I1,I2,I3",
            help="Principal moments of the body, for a step made for its symmetry.",
        ),
    ] = None,
    body: Annotated[
        Path | None,
        typer.Option(
            metavar="SCENARIO.toml",
            help="Take the body of a scenario: its rotors, with their motors, its mass and symmetry.",
        ),
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="double or float; default: the language's own.")
    ] = None,
    frame: Annotated[
        str, typer.Option(help="Frame of the torque that you write: spatial or body.")
    ] = "spatial",
    flight: Annotated[
        bool,
        typer.Option(
            "--flight", help="The body flies: your function returns torque and acceleration."
        ),
    ] = False,
    fma: Annotated[bool, typer.Option(help="Use fused multiplication and addition.")] = True,
    measure: Annotated[
        bool,
        typer.Option(help="Measure the method for the comment at the top, in a second or two."),
    ] = True,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TRIPLE",
            help="Processor and system of an object file, such as aarch64-linux-gnu; default: this machine.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; default: the terminal.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a method out in another language: one file that needs no library."""
    from polhode.errors import InputError
    from polhode.exports._export import exported
    from polhode.exports.prototypes import prototypes
    from polhode.io.store import check_place
    from polhode.support.atomic import write

    if output is not None:
        check_place(output, force)
    acting, given = find_torque(torque, assignments or []), find_body(moments, body)
    words = typed(torque, assignments or [], moments, body)
    made = exported(
        method, language, acting, given, precision, frame, flight, fma, measure, target, words
    )
    if output is None and made.binary:
        raise InputError(
            f"{language!r} is no text for a terminal; name a file: -o {made.module.prefix}{made.suffix}"
        )
    content = made.content()
    if output is None:
        typer.echo(content, nl=False)
    else:
        write(output, content)
        size = f"{len(content)} bytes" if made.binary else f"{len(content.splitlines())} lines"
        typer.echo(f"{output}: {size}")
        if made.binary:
            typer.echo("\n".join(prototypes(made)))


def typed(
    torque: str | None, assignments: list[str], moments: str | None, body: Path | None
) -> Any:
    """Return what was typed for torque and body."""
    from polhode.exports.provenance import Typed

    acting = [("--torque", torque)] if torque else []
    acting += [("--set", one) for one in assignments]
    given = ("--moments", moments) if moments else ("--body", str(body)) if body else ()
    return Typed(torque=tuple(one for pair in acting for one in pair), body=given)


def find_torque(name: str | None, assignments: list[str]) -> Any:
    """Return the torque of a name or of a file, with the given parameters."""
    from polhode import Torque, flight, torques
    from polhode.errors import InputError
    from polhode.io.scenario.settings import toml_value
    from polhode.loads import user_file

    given = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set takes KEY=VALUE, got {text!r}; write --set moment=20")
        given[key.strip()] = toml_value(f"--set {key.strip()}", value.strip())
    if name is None:
        if given:
            raise InputError("--set gives parameters of a torque, and there is none; give --torque")
        return None
    if user_file.is_target(name):
        found: Any = user_file.torque(name)
        if given and not isinstance(found, Torque):
            raise InputError(
                f"--set changes torques, and {name!r} is {found!r}; set them in the file"
            )
        return found.with_params(**given) if given else found
    flies = name in flight.__all__
    if not given and not flies:
        return name
    make: Any = getattr(flight, name) if flies else torques.by_name(name)
    try:
        return make(**given)
    except TypeError as error:
        home = "flight" if flies else "torques"
        raise InputError(
            f"torque {name!r}: {error}; give its parameters by --set, see polhode.{home}.{make.__name__}"
        ) from error


def find_body(moments: str | None, scenario: Path | None) -> Any:
    """Return the body of a scenario, or three moments."""
    from polhode.errors import InputError
    from polhode.io.scenario._load import load

    if moments is not None and scenario is not None:
        raise InputError(
            f"--moments {moments} and --body {scenario} both say what the body is; give one of them"
        )
    if scenario is not None:
        return load(scenario).body
    return None if moments is None else _three(moments)


def _three(text: str) -> list[float]:
    """Return three numbers from text."""
    from polhode.errors import InputError

    try:
        a, b, c = map(float, text.split(","))
    except ValueError:
        raise InputError(
            f"--moments takes three numbers with commas between them, got {text!r}; write 1,2,3"
        ) from None
    return [a, b, c]
