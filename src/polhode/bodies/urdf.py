"""The inertia of one link of a robot description (URDF): mass, six entries of the tensor, and the
frame they are given in."""

from xml.etree import ElementTree

import numpy as np

from polhode.core.scalars import sincos
from polhode.errors import InputError, choice
from polhode.support.file_names import readable
from polhode.support.frames import rows_times
from polhode.support.regular import file_path, check_regular

LARGEST = 16 * 2**20  # bytes
_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def body(cls, path, link=None):
    """The body of class `cls` of a link; `RigidBody.from_urdf` is this."""
    path = file_path(path)
    name, inertial = _chosen(_links(path), link, path)
    place = f"{path}: link {name!r}"
    mass = _numbers(_child(inertial, "mass", place), "value", 1, place)[0]
    if not mass > 0.0:
        raise InputError(
            f"{place}: its mass must be positive, got {mass!r}; give it a mass, or choose another link"
        )
    entries = _child(inertial, "inertia", place)
    xx, xy, xz, yy, yz, zz = (_numbers(entries, key, 1, place)[0] for key in _ENTRIES)
    origin = inertial.find("origin")
    centre, rpy = (
        (np.zeros(3), np.zeros(3))
        if origin is None
        else (_numbers(origin, key, 3, place, "0 0 0") for key in ("xyz", "rpy"))
    )
    tensor = _turned(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), rpy)
    try:
        return cls(
            tensor,
            mass,
            name=name,
            shape={"kind": "link", "file": readable(path), "centre_of_mass": centre},
        )
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _turned(tensor, rpy):
    """R I R^T, R = Rz(yaw) Ry(pitch) Rx(roll): from the axes of the origin to those of the link."""
    if not rpy.any():
        return tensor
    (sx, cx), (sy, cy), (sz, cz) = map(sincos, rpy.tolist())
    R = np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )
    size = np.abs(tensor).max()
    turned = rows_times(rows_times(R, tensor / size), R.T) if size else tensor
    turned[np.abs(turned) < 4 * np.finfo(float).eps] = 0.0  # quarter turns leave the axes principal
    return 0.5 * (turned + turned.T) * size


def _chosen(links, link, path):
    """(name, <inertial>) of the link asked for."""
    able = {name: found for name, found in links.items() if found is not None}
    if link is None:
        if len(able) != 1:
            raise InputError(
                f"{path}: {len(able)} links have an <inertial>; name one: {', '.join(map(repr, able)) or 'none'}"
            )
        link = next(iter(able))
    choice(f"link of {path}:", link, links)
    if links[link] is None:
        raise InputError(
            f"{path}: link {link!r} has no <inertial>, so no mass; links that have: "
            f"{', '.join(map(repr, able)) or 'none'}"
        )
    return link, links[link]


def _links(path):
    """The <inertial> of each link by name, None for a link without."""
    root = _parsed(path)
    if root.tag != "robot":
        raise InputError(
            f"{path}: a URDF is a <robot> with links in it, got <{root.tag}>; give a URDF (expand xacro first)"
        )
    return {one.get("name", ""): one.find("inertial") for one in root.findall("link")}


def _child(element, tag, place):
    found = element.find(tag)
    if found is None:
        raise InputError(f"{place}: its <inertial> has no <{tag}>; add one")
    return found


def _numbers(element, key, count, place, default=None):
    text = element.get(key, default)
    try:
        values = np.array([float(word) for word in text.split()])
    except (AttributeError, ValueError):
        values = np.empty(0)
    if len(values) != count or not np.isfinite(values).all():
        what = "a finite number" if count == 1 else f"{count} finite numbers"
        raise InputError(
            f"{place}: {key} of <{element.tag}> must be {what}, got {text!r:.60}; correct it there"
        )
    return values.tolist() if count == 1 else values


class _Builder(ElementTree.TreeBuilder):
    """Builds the elements.  A document type is refused: entities declared in one can grow without
    bound or open other files."""

    def doctype(self, *_):
        raise InputError(
            "has a document type declaration (<!DOCTYPE ...>), which a URDF does not need; remove it"
        )


def _parsed(path):
    """The root element."""
    try:
        data = check_regular(path, "a URDF", LARGEST).read_bytes()
        return ElementTree.fromstring(data, ElementTree.XMLParser(target=_Builder()))
    except OSError as error:
        raise InputError(
            f"cannot read the URDF {str(path)!r}: {error.strerror or error}; give the path of a URDF file"
        ) from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{path}: not valid XML: {error}; correct it there") from None
