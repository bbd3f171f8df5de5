// What a document may look like before anybody looks into it: tokens, depth, aliases, directives (limits.ts), and who may
// read the schema. REST's documents are sofa's own and do not pass here.
import { EnvelopArmor } from '@escape.tech/graphql-armor';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Caller } from '#access/principal.ts';
import { agentNotClaimed } from '#foundation/problem.ts';
import { graphql } from '#limits.ts';

/** Armor's rules with our numbers. Their complaints join those of validation and name the bound. */
export function boundPlugins(): Plugin[] {
  const told = {
    propagateOnRejection: false,
    onReject: [
      (context: ValidationContext | null, { message }: GraphQLError) =>
        context?.reportError(new GraphQLError(message.replace('Syntax Error: ', ''))),
    ],
  };
  const { plugins } = new EnvelopArmor({
    maxTokens: { n: graphql.tokens },
    maxDepth: { n: graphql.depth, flattenFragments: true, ...told },
    maxAliases: { n: graphql.aliases, ...told },
    maxDirectives: { n: graphql.directives, ...told },
    costLimit: { enabled: false },
    blockFieldSuggestion: { enabled: false },
  }).protect();
  return plugins as Plugin[];
}

/** Keeps what belongs to the documents asked for last, but to no big ones: in memory a document is many times its text. */
export function documentCache<V>(size: number = graphql.cachedDocuments) {
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
      if (text.length > graphql.cachedDocumentLength) return;
      if (kept.size >= size) kept.delete(kept.keys().next().value!);
      kept.set(text, value);
    },
  };
}

/** Whether the schema is open to the caller: an agent that nobody has claimed may ask, but not look around. */
export const mayReadSchema = (caller: Caller): boolean => caller.principalType !== 'agent';
export const schemaIsClosed = () => agentNotClaimed('An agent that no person has claimed yet can not read the schema.');

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
