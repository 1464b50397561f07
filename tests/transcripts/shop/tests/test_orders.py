from shop.orders import Order, price_of, receipt


def test_a_member_pays_less():
    assert price_of(Order([1000], is_member=True)) < price_of(Order([1000]))


def test_a_receipt_has_the_price():
    assert "cents" in receipt(Order([1, 2]))
