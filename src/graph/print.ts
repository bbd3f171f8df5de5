// Prints the schema: for the file schema.graphql and for GET /graphql/schema.graphql.
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** The text of the schema, sorted so that moved code does not change it. */
export const printGraph = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;
