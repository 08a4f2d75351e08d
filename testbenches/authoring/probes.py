"""Functions with asserts; kept out of the test files, whose asserts pytest rewrites."""


def with_message(t):
    assert t.x != 77, "x is never 77"
    return t.x


def without_message(t):
    assert 0 <= t.x < 100  # a comment
    return t.x
