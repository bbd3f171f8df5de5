// aep: the command line of the platform.
import { endWith } from './output.ts';
import { createProgram } from './program.ts';

// The reader of the output may exit first: `aep runs | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await createProgram().parseAsync();
} catch (error) {
  endWith(error, process.argv.includes('--json'));
}
