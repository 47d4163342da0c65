#include <stdlib.h>

// How many tests run at once, unless the command or the environment says otherwise.
//
// Without a limit, all tests run at once. Then each step of a test waits for seconds behind the steps of the others,
// and time limits, which the tests are not about, expire. Swift Testing reads this variable when the tests start.
__attribute__((constructor)) static void limitParallelism(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
