// Limits a document before it is executed (tokens, depth, aliases, directives; limits.ts), and decides which callers may read the schema.
// Documents of REST are written by sofa and not checked here.
import { EnvelopArmor } from '@escape.tech/graphql-armor';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import { agentNotClaimed } from '#foundation/problem.ts';
import { graphql } from '#limits.ts';

/** Number of parsed documents cached in memory, and the maximum length of their text, in characters. */
const cachedDocuments = 200;
const maxCachedLength = 4_000;

/**
 * Plugins of GraphQL Armor with the limits of the service. Their errors contain the bound, and are reported together with errors of validation.
 */
export function boundPlugins(): Plugin[] {
  const reporting = {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, { message }: GraphQLError) =>
        context?.reportError(new GraphQLError(message.replace('Syntax Error: ', ''))),
    ],
  };
  const { plugins } = new EnvelopArmor({
    maxTokens: { n: graphql.tokens },
    maxDepth: { n: graphql.depth, flattenFragments: true, ...reporting },
    maxAliases: { n: graphql.aliases, ...reporting },
    maxDirectives: { n: graphql.directives, ...reporting },
    costLimit: { enabled: false },
    blockFieldSuggestion: { enabled: false },
  }).protect();
  return plugins as Plugin[];
}

/** Caches a value for each of the latest documents, except long ones: in memory a document is many times the size of its text. */
export function documentCache<V>(size: number = cachedDocuments) {
  const kept = new Map<string, V>();
  return {
    get(text: string): V | undefined {
      const value = kept.get(text);
      if (value !== undefined) {
        kept.delete(text);
        kept.set(text, value);
      }
      return value;
    },
    set(text: string, value: V): void {
      if (text.length > maxCachedLength) return;
      if (kept.size >= size) kept.delete(kept.keys().next().value!);
      kept.set(text, value);
    },
  };
}

/** Whether the caller may read the schema: an unclaimed agent may execute operations, but not introspect. */
export const mayReadSchema = (caller: Caller): boolean => caller.principalType !== 'agent';
export const schemaIsClosed = () => agentNotClaimed('An unclaimed agent cannot read the schema.');

const withoutIntrospection: ValidationRule = (context) => ({
  Field({ name: { value } }) {
    if (value === '__schema' || value === '__type') context.reportError(schemaIsClosed());
  },
});

export function introspectionPlugin(): Plugin<{ caller: Caller }> {
  return {
    onValidate({ context, addValidationRule }) {
      if (!mayReadSchema(context.caller)) addValidationRule(withoutIntrospection);
    },
  };
}
