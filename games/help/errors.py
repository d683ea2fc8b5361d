"""What can be wrong with a help text. All of it is the author's to mend, so pages fail loudly and tests find it."""


class HelpTextError(ValueError):
    """A help text that cannot be printed."""


class UnknownMark(HelpTextError):
    """Something between double braces that stands for nothing in this game."""


class BadExample(HelpTextError):
    """A worked example that the rules do not allow, or that does not say what it must."""
