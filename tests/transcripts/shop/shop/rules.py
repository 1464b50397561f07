"""Rules that change a price."""


class Rule:
    """A change of a price."""

    def apply(self, price: int) -> int:
        raise NotImplementedError


class Discount(Rule):
    """A part of the price less."""

    def __init__(self, percent: int) -> None:
        self.percent = percent

    def apply(self, price: int) -> int:
        return price - rounded(price * self.percent / 100)


class Tax(Rule):
    """A part of the price more."""

    def apply(self, price: int) -> int:
        return price + rounded(price * RATE)


RATE = 0.19


def rounded(amount: float) -> int:
    """Whole cents, halves to the even one."""
    return round(amount)
