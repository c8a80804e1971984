// When a bulk store lands whose thread has waited until its source was read, and for no more.
//
// The rules leave that open until the thread waits for the writes or the block ends. Hardware has
// written it by then, as good as always, and programs rely on it, so it lands at that wait. Under
// `ridge check` it lands as late as it may.
#pragma once

namespace ridge::vm {

bool stores_land_late();
// Called while nothing runs.
void let_stores_land_late(bool late);

}  // namespace ridge::vm
