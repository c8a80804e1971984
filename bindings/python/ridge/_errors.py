"""What can go wrong, as exceptions."""


class Error(RuntimeError):
    """A call that failed; what it says is the library's message. The others are kinds of it."""


class ArgumentError(Error, ValueError):
    """An array or a parameter is wrong. The message names it, says what it is and what it has to be."""


class KernelError(Error):
    """A kernel failed while it ran. The message has what the device reports: the finding, with its line."""


class CompileError(Error):
    """nvcc refused a source. The message is what nvcc says."""


class MissingError(Error, ImportError):
    """Something is not on this machine: a library, a GPU, nvcc. The message says how to get it."""


class ForkError(Error):
    """The process was forked after the device had been used."""
