"""`python -m ridge`, and the command `ridge` of an installed wheel: the command line."""
import os
import sys

from ridge import _library
from ridge._errors import MissingError


def main() -> None:
    installed = _library.PACKAGE / "tree" / "bin" / "ridge"
    command = installed if installed.exists() else _library.PACKAGE.parents[1] / "bin" / "ridge"
    try:
        os.execv(command, [str(command), *sys.argv[1:]])
    except OSError as error:
        raise MissingError(f"{command} cannot be started: {error.strerror}. `pip install .` in the sources of Ridge installs it") \
            from error


if __name__ == "__main__":
    main()
