#include "hn.h"
void hn_run_pending(struct hn_thread *me) { me->pending_count = 0; }
