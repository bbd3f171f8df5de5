// Keeps the memory of a start small; imported before all else. What loading leaves behind would have V8's young generation grow to
// 32 MB, so it may not grow for ten seconds. Then the rest is collected, once, in about a tenth of a second, and with it the
// compiled code of all functions: most of them ran once.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const growBy = (factor: number) => setFlagsFromString(`--semi-space-growth-factor=${factor}`);
const forgetCode = (all: boolean) => setFlagsFromString(all ? '--stress-flush-code' : '--no-stress-flush-code');

growBy(1);
setTimeout(() => {
  growBy(2);
  setFlagsFromString('--expose-gc');
  forgetCode(true);
  runInNewContext('gc')();
  forgetCode(false);
}, 10_000).unref();
