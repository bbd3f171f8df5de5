// Counts the statements that the service of this process sends, except BEGIN and COMMIT, for servers/cpu-usage.js.
import { watchStatements } from '#foundation/postgres/database.ts';

watchStatements((_, times) => {
  globalThis.statementsSent = (globalThis.statementsSent ?? 0) + times;
});

declare global {
  var statementsSent: number | undefined;
}
