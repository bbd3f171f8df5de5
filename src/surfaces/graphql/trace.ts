// Traces the operations that yoga executes; known-queries.ts traces all other operations.
import { type ExecutionResult, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { toProblem } from '#foundation/problem.ts';
import { failWith, inSpan, tracing } from '#foundation/tracing/tracing.ts';
import { operationSpan } from '#graph/operation-span.ts';

export const tracePlugin = (): Plugin => ({
  onExecute({ args: { document, operationName }, executeFn, setExecuteFn }) {
    const on = tracing();
    const operation = on && getOperationAST(document, operationName);
    if (!operation) return;
    setExecuteFn((args) => {
      const span = on.begin(operationSpan(operation.operation, operation.name?.value));
      return inSpan(span, async () => {
        const result: ExecutionResult = await executeFn(args);
        if (result.errors) failWith(span, toProblem(result.errors[0]));
        return result;
      });
    });
  },
});
