// The OpenAPI document that the service serves, with the default URLs. No database is opened.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openLog } from '#foundation/log.ts';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { version } from '../src/services.ts';

export async function readOpenApi(): Promise<Record<string, unknown>> {
  const config = readConfig({});
  bindAddresses(config.addresses);
  const server = createServer(createApp({ ...config, version, log: openLog({ level: 'silent' }) }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/v1/openapi.json`);
  const document = (await response.json()) as Record<string, unknown>;
  server.close();
  return document;
}
