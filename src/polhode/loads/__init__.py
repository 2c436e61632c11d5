"""What acts on a body: torques, forces, and how they become kernels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, ["flight", "force", "interactions", "torques"]
)
