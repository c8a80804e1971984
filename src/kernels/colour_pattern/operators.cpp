#include "operator/description.h"

namespace ridge::colour_pattern {

Operators operators() {
  return {
      {.name = "colour_pattern",
       .formula = "out = an animated plasma: four waves are added, and their sum turns the colour",
       .dimensions = {{"frames"}, {"height", "rows of pixels"}, {"width", "pixels of a row"}},
       .tensors = {{.name = "out",
                    .role = Role::out,
                    .shape = "frames, height, width, 3",
                    .formats = {Dtype::u8},
                    .layout = Layout::rows,
                    .row_dims = 2,
                    .meaning = "red, green and blue of every pixel"}},
       .notes = "The film is a loop: the frame after the last is the first. Levels are rounded to "
                "the nearest; f32 may round to the one beside it."}};
}

}  // namespace ridge::colour_pattern
