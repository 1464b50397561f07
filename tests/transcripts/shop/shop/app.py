"""The entrance: a receipt on standard output."""

import json
import sys

from .orders import Order, receipt


def main() -> None:
    asked = json.load(sys.stdin)
    print(receipt(Order(asked["lines"], asked.get("member", False))))


if __name__ == "__main__":
    main()
