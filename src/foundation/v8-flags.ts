// Sets all V8 flags of the process. V8 does not guarantee any flag, so `V8_FLAGS=off` in the environment disables all of them. This file is
// imported first, because the first flag limits how much memory the process uses while it starts. The measurements are in bench/README.md.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const startsUpMs = 10_000;

if (process.env.V8_FLAGS !== 'off') {
  keepStartSmall();
  // Rows live as long as their request. Under load, V8's pretenuring places them in the old generation, which only a full garbage
  // collection frees. Without pretenuring, a request for a page of 100 rows takes a third less CPU time.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // The young generation is small, so several threads would spend more time on coordination than one thread spends on copying, and the
  // other cores run other processes (WORKERS, PostgreSQL). With one thread, a request for a page of 100 rows takes a fifth less CPU time.
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * Loading the modules leaves garbage that would make V8's young generation grow to 32 MB, so it must not grow while the process starts.
 * After the start, the remaining garbage is collected once, in about a tenth of a second. This collection also discards the compiled code
 * of all functions, because most of them ran only once.
 */
function keepStartSmall(): void {
  const growBy = (factor: number) => setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  growBy(1);
  setTimeout(() => {
    growBy(2);
    setFlagsFromString('--expose-gc');
    setFlagsFromString('--stress-flush-code');
    runInNewContext('gc')();
    setFlagsFromString('--no-stress-flush-code');
  }, startsUpMs).unref();
}
