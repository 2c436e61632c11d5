"""A motion of the playground as Python, for the reader to take along."""

from polhode.show.play import start


def as_python(request):
    """What `polhode.show.play.work.Request` asks for, as a program."""
    problem, begin = request.problem, float(request.problem.t_span[0])
    acting = _torque_code(request)
    lines = ["import polhode", ""]
    if "problem" in acting:
        lines.append(f'problem = polhode.problem("{problem.name}")')
    lines.append(f"torque = {acting}")
    names = [name for name, _ in zip(("run", "other"), request.runs, strict=False)]
    for name, (_, body, method) in zip(names, request.runs, strict=True):
        lines += [
            f"{name} = polhode.integrate(",
            f"    {_body_code(body.body)},",
            f'    torque, ({begin!r}, {begin + request.span!r}), {request.step!r}, "{method.name}",',
            f"    rotation0=[{_format_numbers(body.rotation0)}],",
            f"    omega0=[{_format_numbers(body.omega0)}]{_launch_code(request, body.body)})",
        ]
    show = "run.view().open()" if len(names) == 1 else "run.view(compare=other).open()"
    return "\n".join([*lines, show, ""])


def _torque_code(request):
    parts = []
    if start.other_terms(request.problem, request.step) is not None:
        parts.append(f"problem.torque({request.step!r})")
    if request.weight:
        parts.append(f"polhode.torques.heavy_top({request.weight!r})")
    if request.damping:
        parts.append(f"polhode.torques.damping({request.damping!r})")
    return " + ".join(parts) or "None"


def _launch_code(request, body):
    launch = request.launch(body)
    if not launch:
        return ""
    velocity = _format_numbers(launch["velocity0"])
    return f",\n    force=polhode.weight({body.mass!r}), velocity0=[{velocity}]"


def _body_code(body):
    rotors = ", ".join(f"polhode.{one!r}" for one in body.rotors)
    return _plain_code(body) + (f".with_rotors([{rotors}])" if rotors else "")


def _plain_code(body):
    body = body.with_rotors([])
    size = (body.shape or {}).get("size") or (body.shape or {}).get("semi_axes")
    if size:
        return f"polhode.RigidBody.{body.shape['kind']}({_format_numbers(size)})"
    rule = "" if body.to_dict()["check_triangle"] else ", check_triangle=False"
    return f"polhode.RigidBody([{_format_numbers(body.moments)}]{rule})"


def _format_numbers(values):
    return ", ".join(repr(float(value)) for value in values)
