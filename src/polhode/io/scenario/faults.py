"""All faults of a file, reported at once, each with the path of its key."""

import contextlib

from pydantic import ValidationError

from polhode.errors import InputError
from polhode.io.scenario import messages


class Faults(list):
    """Collects what is wrong, so that all of it can be said at once.

    `options` names the option that gave a key, where it was not the file.
    """

    def __init__(self, options=()):
        super().__init__()
        self.options = dict(options)

    def add(self, path, message):
        name = ".".join(map(str, path))
        for key, option in self.options.items():
            if f"{name}.".startswith(f"{key}."):
                name = option + name[len(key) :]
                break
        self.append(f"{name}: {message}" if name else message)

    @contextlib.contextmanager
    def at(self, *path):
        """Errors raised inside are noted under this path."""
        try:
            yield
        except InputError as error:
            self.add(path, error)

    def report(self, path):
        """Raise what has been collected about a file, if anything."""
        if self:
            head = f"{path}: " if len(self) == 1 else f"{path} has {len(self)} errors:\n  "
            raise InputError(head + "\n  ".join(self))

    def check(self, model, value, *path):
        """The value as a section, or None when it is none."""
        try:
            return model.model_validate(value)
        except ValidationError as errors:
            for error in errors.errors():
                place, message = messages.complaint(error, list(model.model_fields), path[0])
                self.add((*path, *place), message)
        return None
