"""Prices of orders."""
