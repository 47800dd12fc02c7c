"""The built-in tasks about icons of things."""
