"""Simo & Wong's toss of a book: a torque with two jumps, made for steps of one size."""

from polhode.loads._torque import Torque


def toss_torque(t, R, p):
    """The mean of the two sides at each of the two jumps: then the momentum after the toss is exact."""
    before = 0.5 * (1.0 - _sign(t - p.release, p.step))
    after = 0.5 * (1.0 + _sign(t - p.release - p.step, p.step))
    return (p.toss * before, p.disturbance / p.step * (1.0 - before - after), 0.0)


def _sign(x, step):
    return 0.0 if abs(x) < 1e-6 * step else (1.0 if x > 0.0 else -1.0)


class BookToss(Torque):
    """A torque made for one step, which begins and ends with its jumps."""

    def for_step(self, step: float) -> Torque:
        return self.with_params(step=step)

    @property
    def unit(self) -> float:  # type: ignore[override]
        return self.params.step

    @property
    def jumps(self) -> tuple[float, float]:  # type: ignore[override]
        return self.params.release, self.params.release + self.params.step
