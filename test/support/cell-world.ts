// Two cells, `eu` (the directory) and `us`. Each cell is an installation with its own database and process. The records of `us` are created first.
// After that, the test is connected to the database of `eu`.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { databaseUrl, freePort, type ServiceProcess, startService } from './processes.ts';
import { requestsTo } from './requests.ts';
import { openWorld, type World } from './world.ts';

export const cellNames = ['eu', 'us'] as const;
export type CellName = (typeof cellNames)[number];

export interface TestCell {
  world: World;
  url: string;
  /** The environment variables with which the programs of this cell run. */
  env: NodeJS.ProcessEnv;
  ask: ReturnType<typeof requestsTo>;
  start(settings?: NodeJS.ProcessEnv): Promise<void>;
  /** Ends the process without warning. */
  kill(): Promise<void>;
}

/**
 * @param makeIn Creates the records of a cell while the test is connected to the database of that cell. It is called for `us`, and then for `eu`.
 * @param more Settings of each cell
 */
export async function openCells(
  makeIn: (name: CellName, world: World) => Promise<void>,
  more: Partial<Record<CellName, NodeJS.ProcessEnv>> = {},
) {
  const folder = mkdtempSync(path.join(tmpdir(), 'aep-cells-'));
  const ports = { eu: await freePort(), us: await freePort() };
  const cells = `eu=http://127.0.0.1:${ports.eu},us=http://127.0.0.1:${ports.us}`;
  const open = async (name: CellName): Promise<TestCell> => {
    const world = await openWorld();
    await makeIn(name, world);
    const url = `http://127.0.0.1:${ports[name]}`;
    const env = {
      ...{ CELL_NAME: name, CELLS: cells, CELL_SECRET: Buffer.alloc(32, 3).toString('base64') },
      ...{ PORT: String(ports[name]), PUBLIC_URL: url, DATABASE_URL: databaseUrl(world.connection) },
      ...{ SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), DATA_DIR: path.join(folder, name) },
      ...more[name],
    };
    let service: ServiceProcess | undefined;
    return {
      world,
      url,
      env,
      ask: requestsTo(url),
      async start(settings = {}) {
        service = startService(world.connection, ports[name], { ...env, ...settings });
        await service.ready;
      },
      async kill() {
        if (!service || service.process.exitCode !== null || service.process.signalCode !== null) return;
        service.process.kill('SIGKILL');
        await once(service.process, 'exit');
      },
    };
  };
  const us = await open('us');
  const eu = await open('eu');
  await Promise.all([eu.start(), us.start()]);
  return {
    eu,
    us,
    async close() {
      await Promise.all([eu.kill(), us.kill()]);
      await eu.world.close();
      await us.world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
