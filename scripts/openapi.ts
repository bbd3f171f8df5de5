// Prints the OpenAPI document of a service at its default addresses, for the linter and for client generators:
// `npm run openapi > openapi.json`.
import { bindAddresses } from '#foundation/addresses.ts';
import { schema } from '#schema.ts';
import { readConfig } from '../src/config.ts';
import { version } from '../src/house.ts';
import { createRest } from '../src/surfaces/rest/surface.ts';

bindAddresses(readConfig({}).addresses);
const refuse = () => Promise.reject(new Error('nothing is served here'));
const rest = createRest({ schema, version, authenticate: refuse, meter: refuse, report: () => {} });
process.stdout.write(`${JSON.stringify(JSON.parse(rest.document), null, 2)}\n`);
