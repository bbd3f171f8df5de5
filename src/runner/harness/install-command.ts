// `install [harness …]` of the runner: installs harnesses in the folder of the runner, for machines whose runner does not install them
// itself.
import { chooseIsolation, runIn } from '../isolation/isolation.ts';
import { installationFolder, installOne } from './installer.ts';
import { type Installable, installable } from './pinned.ts';

export const usage = `Without arguments the runner reads a service token from standard input, and claims runs from PLATFORM_URL.
install [${installable.join('] [')}] installs harnesses in HARNESSES_DIR: without a name, ${installable[0]}.
replay FILE [REPOSITORY] executes a recorded mission again: its calls are answered from the recording.`;

/** Installs the named harnesses, or the default one. @throws the reason why a harness is not installed */
export async function runInstall(names: readonly string[], platformUrl: string, signal: AbortSignal): Promise<void> {
  const wanted = names.length > 0 ? names : [installable[0]];
  const unknown = wanted.find((name) => !installable.includes(name as Installable));
  if (unknown) throw new Error(`${unknown}: must be one of ${installable.join(', ')}.`);
  const { env } = process;
  const isolation = await chooseIsolation(env.ISOLATION || undefined, platformUrl);
  const folder = await installationFolder(env, isolation?.level === 'cell');
  const around = { env, folder, probe: { run: runIn(isolation) }, signal, log: console.log };
  for (const name of wanted) {
    const { harness, version, program } = await installOne(name as Installable, around, () => {});
    console.log(`${harness} ${version}: ${program}`);
  }
}
