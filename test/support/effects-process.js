// A process that carries out approved outside effects, to be killed in the middle of one (programs/domain/outside-effects-kills.test.ts starts it).
import { commitNextEffect } from '#domain/execution/outside-effects/commit.ts';
import { bindVendorAddresses } from '#domain/projects/vendors/addresses.ts';
import { setClock } from '#foundation/clock.ts';
import { bindAddresses } from '#foundation/http/addresses.ts';
import { openOutbound } from '#foundation/http/outbound.ts';
import { startBackground } from '#foundation/jobs/background.ts';
import { openLog } from '#foundation/log.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { bindSecretKey } from '#foundation/secrets/secrets.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';

/** Settings from the test, as JSON in the first argument. */
const { connection, vendors, contents, url, at } = JSON.parse(process.argv[2]);
setClock(() => at);
bindSecretKey(Buffer.alloc(32, 7));
bindAddresses({ baseHost: url, issuer: url, mcp: url, a2a: `${url}/a2a` });
bindVendorAddresses(vendors);
openOutbound({ allowLoopback: true });
openStorage(folderStorage(contents));
openDatabase({ connection, poolMax: 4 });
const log = openLog({ level: 'error', destination: { write: (line) => process.stderr.write(line) } });
startBackground({ 'commit effects': commitNextEffect }, { log, look: 20 });
