"""Constants that depend on how many bits a number has."""


class Constant(float):
    """A float that means something in terms of the arithmetic itself, what counts as round-off for
    example, and so says what it is in single precision too.

    In code it is the float that it is; a kernel in float32 gets `single` in its place.
    """

    __slots__ = ("single",)

    def __new__(cls, value, *, single):
        made = super().__new__(cls, value)
        made.single = float(single)
        return made

    def __reduce__(self):
        return _made, (float(self), self.single)


def _made(value, single):
    return Constant(value, single=single)
