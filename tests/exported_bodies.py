"""Bodies in flight and with rotors, exported and run: programs in every language that print the motion."""

import math
import struct
from typing import NamedTuple

import numpy as np

import c_code
import cpp_code
import csharp_code
import javascript_code
import rust_code
import wgsl_code


class Run(NamedTuple):
    """A file, and what it is run with; the motion is q, Om, and in flight x and v."""

    text: str
    name: str  # of the method, as in names of functions
    moments: tuple
    motion: tuple
    rotors: tuple  # axes, moments, whether free, speeds; () for a body without
    h: float
    steps: int
    load: str = ""  # what stands for the user's functions, "" where there is none
    readings: tuple = ()  # what else is read from the last state, such as "residual"

    @property
    def count(self):
        return len(self.rotors[1]) if self.rotors else 0

    @property
    def flies(self):
        return len(self.motion) == 4


def numbers(values):
    return ", ".join(repr(float(one)) for one in values)


def fields(of, name, count):
    """Items of a vector in languages with x, y, z."""
    return [f"{of}.{one}" for one in "xyzw"[:count]] if count > 1 else [f"{of}{name}"]


def shown(run, omega, speeds, single, reading):
    """What is printed: attitude, body velocity, place and velocity, speeds, and what `reading` reads."""
    found = [*fields("s.q", "", 4), *fields(omega, "", 3)]
    found += [*fields("s.x", "", 3), *fields("s.v", "", 3)] if run.flies else []
    found += fields(speeds, single, run.count) if run.count else []
    return found + [reading.format(one, one.capitalize()) for one in run.readings]


def values_of(output):
    return [np.array(line.split(), float) for line in output.splitlines()]


# --- C ----------------------------------------------------------------------------------------------

C = """
int main(void) {{
    const double h = {h};
    const {name}_body body = {name}_make_body({given});
    {name}_state s;
    {name}_start(&s, h, 0, {motion}, &body{load});
    for (long k = 0; k < {steps}; k++) {{ {name}_step(&s, h, (double)k * h, &body{load}); }}
    const {name}_vec3 Om = {name}_omega(&s, &body);
    {speeds}
    const double found[] = {{{shown}}};
    for (unsigned i = 0; i < sizeof found / sizeof *found; i++) {{ printf("%.17g ", found[i]); }}
    printf("\\n");
    return 0;
}}
"""


def c(runs, users):
    """The motions in C."""
    found = []
    for i, run in enumerate(runs):

        def vec(values, name=run.name):
            text = numbers(values)
            return f"({name}_vec{len(values)}){{{text if len(values) > 1 else f'{{{text}}}'}}}"

        given, motion = [vec(run.moments)], [vec(one) for one in run.motion]
        if run.rotors:
            axes = ", ".join(map(vec, run.rotors[0]))
            axes = (
                f"({run.name}_mat3){{{axes}}}"
                if run.count == 3
                else f"({run.name}_vec3_{run.count}){{{{{axes}}}}}"
            )
            given += [axes, *map(vec, run.rotors[1:3])]
            motion.append(vec(run.rotors[3]))
        text = "#include <stdio.h>\n" + run.text + users.get(i, "") + C.format(
            name=run.name, h=run.h, given=", ".join(given), motion=", ".join(motion), steps=run.steps,
            load=run.load and f", {run.load}",
            speeds=f"const {run.name}_vec{run.count} W = {run.name}_speeds(&s, &body);" if run.rotors else "",
            shown=", ".join(shown(run, "Om", "W", ".v[0]", f"{run.name}_{{}}(&s)")),
        )  # fmt: skip
        found += values_of(c_code.output(text))
    return found


# --- C++ --------------------------------------------------------------------------------------------

CPP = """
static void case{i}() {{
    using namespace file{i};
    const double h = {h};
    const Body body = make_body({given});
    State s = start(h, 0, {motion}, body{load});
    for (long k = 0; k < {steps}; k++) {{ step(s, h, double(k) * h, body{load}); }}
    const vec3 Om = omega(s, body);
    {speeds}
    for (double one : {{{shown}}}) {{ std::printf("%.17g ", one); }}
    std::printf("\\n");
}}
"""


def cpp(runs, users):
    """The motions in C++; `users` is what the user writes, by file."""

    def braces(values):
        return f"{{{numbers(values)}}}"

    texts = []
    for i, run in enumerate(runs):
        text = run.text.replace(f"namespace {run.name}", f"namespace file{i}")
        text = text.replace(f"POLHODE_{run.name}_HPP", f"FILE{i}")
        given, motion = [braces(run.moments)], [braces(one) for one in run.motion]
        if run.rotors:
            axes = ", ".join(map(braces, run.rotors[0]))
            given.append(f"{{{axes}}}" if run.count == 3 else f"{{{{{axes}}}}}")
            rows = [
                braces(one) if run.count > 1 else f"{{{braces(one)}}}" for one in run.rotors[1:]
            ]
            given += rows[:2]
            motion.append(rows[2])
        texts.append(text + users.get(i, "") + CPP.format(
            i=i, h=run.h, given=", ".join(given), motion=", ".join(motion), steps=run.steps, load=run.load and f", {run.load}",
            speeds="const auto W = speeds(s, body);" if run.rotors else "",
            shown=", ".join(shown(run, "Om", "W", ".v[0]", "{}(s)")),
        ))  # fmt: skip
    calls = " ".join(f"case{i}();" for i in range(len(runs)))
    head = "#include <cstdio>\n#include <initializer_list>\n"
    return values_of(
        cpp_code.output(f"{head}{''.join(texts)}\nint main() {{ {calls} return 0; }}\n")
    )


# --- Rust -------------------------------------------------------------------------------------------

RUST = """
fn case{i}() {{
    use file{i}::*;
    let (h, body) = ({h}, Body::new({given}));
    let mut s = State::start(h, 0.0, {motion}, &body{load});
    for k in 0..{steps} {{ s.step(h, 0.0 + k as f64 * h, &body{load}); }}
    let Om = s.omega(&body);
    {speeds}
    for one in [{shown}] {{ print!("{{:?}} ", one); }}
    println!();
}}
"""


def rust(runs, users):
    """The motions in Rust."""

    def vec(values):
        return f"vec{len(values)}({numbers(values)})" if len(values) > 1 else f"[{numbers(values)}]"

    files, texts = {}, []
    for i, run in enumerate(runs):
        files[f"file{i}.rs"] = run.text
        given, motion = [vec(run.moments)], [vec(one) for one in run.motion]
        if run.rotors:
            axes = ", ".join(map(vec, run.rotors[0]))
            given.append(f"mat3({axes})" if run.count == 3 else f"[{axes}]")
            given += map(vec, run.rotors[1:3])
            motion.append(vec(run.rotors[3]))
        texts.append(users.get(i, "") + RUST.format(
            i=i, h=run.h, given=", ".join(given), motion=", ".join(motion), steps=run.steps, load=run.load and f", &{run.load}",
            speeds="let W = s.speeds(&body);" if run.rotors else "", shown=", ".join(shown(run, "Om", "W", "[0]", "s.{}()")),
        ))  # fmt: skip
    mods = "".join(f"mod file{i};\n" for i in range(len(runs)))
    calls = " ".join(f"case{i}();" for i in range(len(runs)))
    head = "#![forbid(unsafe_code)]\n#![allow(non_snake_case)]\n"
    files["main.rs"] = f"{head}{mods}{''.join(texts)}\nfn main() {{ {calls} }}\n"
    return values_of(rust_code.output(files))


# --- JavaScript -------------------------------------------------------------------------------------


def javascript(runs, users):
    """The motions in JavaScript."""
    tasks = []
    for i, run in enumerate(runs):
        axes, J, free, W = run.rotors or ([], [], [], [])
        motion = [list(map(float, one)) for one in run.motion] + ([list(W)] if run.rotors else [])
        rotors = [[list(one) for one in axes], list(J), list(free)] if run.rotors else []
        start = javascript_code.Start(list(run.moments), run.h, motion, rotors, run.readings)
        tasks.append((run.text, start, run.steps, users.get(i)))
    return [np.array(one) for one in javascript_code.followed(tasks)]


# --- C# ---------------------------------------------------------------------------------------------

CSHARP = """
static class Case{i} {{
    public static void Run() {{
        const double h = {h};
        var body = File{i}.MakeBody({given});
        var s = File{i}.Start(h, 0.0, {motion}, body{load});
        for (int k = 0; k < {steps}; k++) {{ File{i}.Step(ref s, h, k * h, body{load}); }}
        var Om = File{i}.Omega(s, body);
        {speeds}
        foreach (double one in new double[] {{ {shown} }}) {{ Console.Write(BitConverter.DoubleToInt64Bits(one) + " "); }}
        Console.WriteLine();
    }}
}}
"""


def csharp(runs, users):
    """The motions in C#."""
    texts = []
    for i, run in enumerate(runs):

        def vec(values, i=i):
            return f"new File{i}.Vec{len(values)}({numbers(values)})"

        text = run.text.replace(f"public static class {run.name}", f"public static class File{i}")
        given, motion = [vec(run.moments)], [vec(one) for one in run.motion]
        if run.rotors:
            axes, name = ", ".join(map(vec, run.rotors[0])), f"Vec3_{run.count}"
            given.append(f"new File{i}.{'Mat3' if run.count == 3 else name}({axes})")
            given += map(vec, run.rotors[1:3])
            motion.append(vec(run.rotors[3]))
        texts.append(csharp_code.adapted(text) + users.get(i, "") + CSHARP.format(
            i=i, h=run.h, given=", ".join(given), motion=", ".join(motion), steps=run.steps, load=run.load and f", {run.load}",
            speeds=f"var W = File{i}.Speeds(s, body);" if run.rotors else "",
            shown=", ".join(shown(run, "Om", "W", ".v0", f"File{i}.{{1}}(s)")),
        ))  # fmt: skip
    return csharp_code.motions(texts)


# --- WGSL -------------------------------------------------------------------------------------------

WGSL = """
@group(0) @binding(0) var<storage, read_write> found: array<f32>;
@group(0) @binding(1) var<storage, read> steps: i32;
@compute @workgroup_size(1)
fn main() {{
    let h = {h};
    let body = {name}_make_body({given});
    var s = {name}_start(h, 0.0, {motion}, body);
    for (var k = 0; k < steps; k++) {{ s = {name}_step(s, h, f32(k) * h, body); }}
    let Om = {name}_omega(s, body);
    {speeds}
    {shown}
}}
"""


def wgsl(runs, users):
    """The motions in shaders."""

    def vec(values):
        text = numbers(values)
        return f"vec{len(values)}f({text})" if len(values) > 1 else f"array<f32, 1>({text})"

    found = []
    for i, run in enumerate(runs):
        given, motion = [vec(run.moments)], [vec(one) for one in run.motion]
        if run.rotors:
            axes = ", ".join(map(vec, run.rotors[0]))
            given.append(
                f"mat3({axes})" if run.count == 3 else f"array<vec3f, {run.count}>({axes})"
            )
            given += map(vec, run.rotors[1:3])
            motion.append(vec(run.rotors[3]))
        printed = shown(run, "Om", "W", "[0]", f"{run.name}_{{}}(s)")
        shader = run.text + users.get(i, "") + WGSL.format(
            name=run.name, h=run.h, given=", ".join(given), motion=", ".join(motion),
            speeds=f"let W = {run.name}_speeds(s, body);" if run.rotors else "",
            shown=" ".join(f"found[{k}] = {one};" for k, one in enumerate(printed)),
        )  # fmt: skip
        found.append(wgsl_code.computed(shader, run.steps, len(printed)))
    return found


# --- WebAssembly ------------------------------------------------------------------------------------


class Module:
    """A module in memory; rows have places of 4096 bytes.  `users` has functions of Python by name,
    which get numbers and rows."""

    def __init__(self, code, prefix, users):
        import wasmtime

        self.store, self.prefix = wasmtime.Store(), prefix
        module = wasmtime.Module(self.store.engine, code)
        links = []
        for asked in module.imports:
            if hasattr(math, asked.name):  # of the library of C: the torque has it
                links.append(wasmtime.Func(self.store, asked.type, getattr(math, asked.name)))
                continue
            sizes, function = users[asked.name.removeprefix(f"{prefix}_")]

            def call(out, *given, sizes=sizes, function=function):
                rows = [self.get(at, n) if n else at for at, n in zip(given, sizes, strict=True)]
                self.put(out, function(*rows))

            links.append(wasmtime.Func(self.store, asked.type, call))
        self.parts = wasmtime.Instance(self.store, module, links).exports(self.store)
        self.memory, self.free = self.parts["memory"], self.parts["free"].value(self.store)

    def put(self, at, values):
        self.memory.write(self.store, struct.pack(f"<{len(values)}d", *values), at)

    def get(self, at, count):
        return np.array(
            struct.unpack(f"<{count}d", self.memory.read(self.store, at, at + 8 * count))
        )

    def call(self, name, *given):
        self.parts[f"{self.prefix}_{name}"](self.store, *given)

    def follow(self, run):
        """The motion after the steps of a run."""
        body, state, out, *places = [self.free + 4096 * i for i in range(12)]
        rows = [run.moments, *(np.ravel(one) for one in run.rotors[:3])]
        motion = [*run.motion, *run.rotors[3:]]
        for at, one in zip(places, [*rows, *motion], strict=False):
            self.put(at, [float(x) for x in one])
        self.call("make_body", body, *places[: len(rows)])
        self.call("start", state, run.h, 0.0, *places[len(rows) : len(rows) + len(motion)], body)
        for k in range(run.steps):
            self.call("step", run.h, 0.0 + k * run.h, state, body)
        self.call("omega", out, state, body)
        found = [self.get(state, 4), self.get(out, 3)]
        for name in ("position", "velocity") if run.flies else ():
            self.call(name, out, state)
            found.append(self.get(out, 3))
        if run.rotors:
            self.call("speeds", out, state, body)
            found.append(self.get(out, run.count))
        for name in run.readings:
            self.call(name, out, state)
            found.append(self.get(out, 1))
        return np.concatenate(found)


def wasm(runs, users):
    """The motions in WebAssembly."""
    return [Module(run.text, run.name, users.get(i, {})).follow(run) for i, run in enumerate(runs)]
