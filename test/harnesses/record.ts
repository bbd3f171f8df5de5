// Records the event streams of test/fixtures/harnesses: node --import tsx test/harnesses/record.ts [HARNESS]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentHarness, Task } from '../../src/runner/harness/port.ts';
import { makePlace } from '../../src/runner/isolation/place.ts';
import { scenes } from '../support/harness-scenes.ts';
import { begin } from '../support/harness-turns.ts';
import { startModels } from '../support/stand-in-models.ts';
import { programs, seed } from './world.ts';

const recorder = fileURLToPath(new URL('record.mjs', import.meta.url));
const fixtures = fileURLToPath(new URL('../fixtures/harnesses', import.meta.url));
mkdirSync(fixtures, { recursive: true });
const vendors = await startModels();
const only = process.argv[2];
for (const name of ['claude-code', 'codex', 'opencode'] as AgentHarness[]) {
  if (only && only !== name) continue;
  const { work: cwd, home, remove } = await makePlace('');
  seed(cwd);
  let resume: string | null = null;
  for (const [scene, act] of Object.entries(scenes)) {
    const file = path.join(fixtures, `${name}-${scene}.jsonl`);
    const wrap: Task['wrap'] = (program, args) => [process.execPath, [recorder, file, program, ...args]];
    const gateway = { url: vendors.url, key: 'gateway-key' };
    const given = { cwd, home, program: programs[name], gateway, wrap, resume };
    const done = begin(name, { ...given, ...act.task });
    await act.play(done);
    await done.harness.end();
    // The scene `again` continues the session of the scene before.
    resume = scene === 'steered' ? done.session() : null;
    const text = readFileSync(file, 'utf8')
      .replaceAll(path.dirname(cwd), '/mission')
      .replaceAll(vendors.url, 'http://gateway');
    writeFileSync(file, text.replaceAll(process.cwd(), '/'));
    console.log(name, scene, text.length);
  }
  await remove();
}
await vendors.close();
