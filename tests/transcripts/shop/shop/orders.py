"""Orders and their prices."""

from .rules import Discount, Rule, Tax


class Order:
    """What one customer orders."""

    def __init__(self, lines: list[int], is_member: bool = False) -> None:
        self.lines = lines
        self.is_member = is_member

    def rules(self) -> list[Rule]:
        return [Discount(10), Tax()] if self.is_member else [Tax()]


def price_of(order: Order) -> int:
    """The price of an order, with every rule applied."""
    price = sum(order.lines)
    for rule in order.rules():
        price = rule.apply(price)
    return price


def receipt(order: Order) -> str:
    return f"{len(order.lines)} lines, {price_of(order)} cents"
