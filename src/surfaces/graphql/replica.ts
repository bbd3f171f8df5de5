// Sends clients' queries to the standby, if there is one (foundation/postgres/replica.ts).
import { getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import { leaveReplica, reading } from '#foundation/postgres/replica.ts';

export function replicaPlugin(): Plugin<{ caller: Caller }> {
  return {
    onExecute({ args: { document, operationName, contextValue }, executeFn, setExecuteFn }) {
      const { bookmark } = contextValue.caller;
      if (!bookmark) return;
      const isQuery = getOperationAST(document, operationName)?.operation === 'query';
      if (isQuery) setExecuteFn((args) => reading(bookmark, () => executeFn(args)));
      else leaveReplica(bookmark);
    },
  };
}
