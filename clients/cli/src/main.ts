// aep: the command line of the platform.
import { setFlagsFromString } from 'node:v8';
import { endWithError } from './output.ts';
import { createProgram } from './program.ts';

// At the first response, V8 would optimize the WebAssembly parser of fetch. The optimization takes longer than most commands.
setFlagsFromString('--wasm-tiering-budget=100000000');
// The program that reads the output may exit first: `aep runs | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await createProgram().parseAsync();
} catch (error) {
  endWithError(error, process.argv.includes('--json'));
}
