"""The example in the comment of a file: it compiles and runs as it stands."""

import re

import pytest

import c_code
import cpp_code
import csharp_code
import javascript_code
import polhode
import rust_code

METHODS = ["LP2", "NMB"]


def example(text):
    """The lines of code after "Use" in the comment at the top."""
    lines = re.split(r"\n\W*Use\b.*\n", text, maxsplit=1)[1].splitlines()
    code = [re.match(r"(?: \*|//!|//)? *(.*)", line)[1] for line in lines]
    end = next(i for i, line in enumerate(code) if line.startswith(("@", "In a crate")))
    return [line for line in code[:end] if line and not line.startswith("after a step")]


def parted(code, pattern):
    """The lines of a pattern and the others."""
    return tuple(
        "\n".join(one for one in code if bool(re.match(pattern, one)) == yes)
        for yes in (True, False)
    )


@pytest.mark.skipif(c_code.COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    "options", [{}, {"precision": "float"}, {"flight": True}, {"torque": "free"}], ids=str
)
def test_in_c(options):
    strict = ("-Wconversion", "-Wdouble-promotion", "-Wfloat-conversion", "-Wno-unused-parameter")
    texts = []
    for method in METHODS[: 1 if "flight" in options else 2]:
        text = polhode.export(method, "c", **options)
        code = " ".join(example(text))
        mine, rest = re.fullmatch(r"(static .*?\}; \} )?(.*)", code).groups()
        name = f"use_{method}"
        texts.append(f"{text}\n{mine or ''}\nvoid {name}(void);\nvoid {name}(void) {{ {rest} }}\n")
    library = c_code.compiled(texts, further=strict)
    for text in texts:
        getattr(library, re.search(r"void (use_\w+)\(void\) \{", text)[1])()


@pytest.mark.skipif(cpp_code.COMPILER is None, reason="needs a C++ compiler")
def test_in_cpp():
    for precision in ("double", "float"):
        text = polhode.export("LP2", "cpp", precision=precision)
        code = "\n".join(example(text))
        assert cpp_code.output(f"{text}\nint main() {{\n{code}\n}}\n") == ""


@pytest.mark.skipif(rust_code.COMPILER is None, reason="needs rustc")
def test_in_rust():
    text = polhode.export("LP2", "rust")
    head, code = parted(example(text), "mod |use ")
    main = f"#![allow(non_snake_case)]\n{head}\nfn main() {{\n{code}\n}}\n"
    assert rust_code.output({"lp2.rs": text, "main.rs": main}) == ""


@javascript_code.needs_node
def test_in_javascript():
    text = polhode.export("LP2", "javascript")
    script = "\n".join(example(text)).replace(
        "console.log(s.q", "console.log(JSON.stringify(s.q)); (() => 0)(s.q"
    )
    assert len(javascript_code.run(script, **{"LP2.mjs": text})) == 4


@pytest.mark.skipif(csharp_code.COMPILER is None, reason="needs Mono and its C# compiler")
def test_in_csharp():
    text = csharp_code.adapted(polhode.export("LP2", "csharp"))
    code = "\n".join(example(text))
    assert (
        csharp_code.motions(
            [f"{text}\nstatic class Case0 {{ public static void Run() {{\n{code}\n}} }}\n"]
        )
        == []
    )
