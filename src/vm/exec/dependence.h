// Programmatic dependent launch: what a grid has to do with the grids before and behind it. Streams
// and graphs know them (src/vm/cudart/dependent_launch.cpp); the grid's blocks only say what they
// do.
//
// A dependent grid may begin when every block of its prerequisites has executed
// griddepcontrol.launch_dependents or has ended. Here it begins at that moment: the block that came
// last waits until the dependent grid can go no further, so that a program which does not wait for
// what it reads sees it, and does not work by luck.
#pragma once

namespace ridge::vm {

class Dependence {
 public:
  virtual ~Dependence() = default;

  // Whether a launch that may begin early is there already.
  virtual bool has_dependents() = 0;
  // A block lets dependents begin. `has_waited`: it has executed griddepcontrol.wait before.
  virtual void trigger(bool has_waited) = 0;
  // Every block has done so, or has ended. Returns when a dependent grid that is there has come as
  // far as it can.
  virtual void release() = 0;

  virtual bool has_prerequisites() = 0;  // that have not ended
  // Waits a short time for the prerequisites to end; true if they have.
  virtual bool wait() = 0;
  // The grid has come as far as it can without them.
  virtual void parks() = 0;
  // False: a prerequisite has failed, and the grid is to stop.
  virtual bool goes_on() = 0;
};

struct GridRun;
struct Inst;
struct Warp;

// griddepcontrol.launch_dependents and griddepcontrol.wait.
const Inst* let_dependents_begin(Warp& w, const Inst* next);
const Inst* wait_for_prerequisites(Warp& w, const Inst* next);
// A block of the grid has ended, which is as good as letting dependents begin.
void block_has_ended(GridRun& grid, bool has_triggered);

}  // namespace ridge::vm
