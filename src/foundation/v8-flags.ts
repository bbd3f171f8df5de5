// Every flag that the process sets in V8, which promises none of them: `V8_FLAGS=off` in the environment leaves V8 as it is. Imported
// before all else, because the first is about the memory of a start. The figures are in bench/README.md.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const startsUpMs = 10_000;

if (process.env.V8_FLAGS !== 'off') {
  keepStartSmall();
  // Rows live as long as their request. Under load V8's pretenuring places them in the old generation, which only a full garbage
  // collection frees: without it a page of 100 costs a third less CPU.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // The young generation holds little: one thread copies it sooner than several agree on who copies what, and the other cores have
  // processes of their own (WORKERS, PostgreSQL). A page of 100 costs a fifth less CPU.
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * The garbage of loading would have V8's young generation grow to 32 MB, so it may not grow while the process starts. Then the rest is
 * collected, once, in about a tenth of a second, and with it the compiled code of all functions: most of them ran once.
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
