// Every V8 flag that the process sets; V8 guarantees none of them: `V8_FLAGS=off` in the environment disables them. Imported first, because
// the first flag limits the memory that the start uses. The figures are in bench/README.md.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const startsUpMs = 10_000;

if (process.env.V8_FLAGS !== 'off') {
  keepStartSmall();
  // Rows live as long as their request. Under load, V8's pretenuring places them in the old generation, which only a full garbage
  // collection frees: without pretenuring, a page of 100 costs a third less CPU.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // The young generation is small, so several threads would spend more time on coordination than one thread spends on copying, and the
  // other cores run other processes (WORKERS, PostgreSQL). A page of 100 costs a fifth less CPU.
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * The garbage of loading modules would make V8's young generation grow to 32 MB, so it must not grow while the process starts. After the
 * start, the remaining garbage is collected once, in about a tenth of a second, with the compiled code of all functions, most of which ran
 * only once.
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
