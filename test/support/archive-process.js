// A process that archives logs, to be killed in the middle of it (programs/domain/log-archives.test.ts starts it).
import { archiveLogs, bindLogArchives } from '#domain/work/log-archives/archive.ts';
import { setClock } from '#foundation/clock.ts';
import { openDatabase } from '#foundation/postgres/database.ts';
import { folderStorage } from '#foundation/storage/folder.ts';
import { openStorage } from '#foundation/storage/storage.ts';

const { connection, folder, at } = JSON.parse(process.argv[2]);
setClock(() => at);
openDatabase({ connection, poolMax: 4 });
openStorage(folderStorage(folder));
bindLogArchives(1);
process.send?.('archives');
await archiveLogs();
