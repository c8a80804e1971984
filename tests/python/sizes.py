"""The sizes at which tests run the programs of examples/triton."""
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "triton"
# Small, and no multiple of a block.
SIZES = {"01": "--n 1301", "02": "--n 1301", "03": "--rows 3 --cols 301", "04": "--n 1301",
         "05": "--images 2 --channels 3 --pixels 119", "06": "--rows 3 --cols 301", "07": "--rows 3 --cols 301",
         "08": "--height 13 --width 71", "09": "--rows 37 --cols 67", "10": "--m 67 --n 72 --k 41", "11": "--m 67 --n 72 --k 41",
         "12": "--m 131 --n 72 --k 33", "13": "--groups 37", "14": "--rows 3 --vocabulary 4099",
         "15": "--heads 1 --length 75"}
