uretprobe:/bin/bash:readline,ur:/bin/sh:f { @ = lhist(retval, 0, 100, 10); }
