// Checks objects against the schemas that Kubernetes publishes. Finds unknown fields, missing fields, and fields of a wrong type.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

interface Fixture {
  /** Names of schemas by `apiVersion kind`. */
  kinds: Record<string, string>;
  definitions: Record<string, object>;
}
const { kinds, definitions }: Fixture = JSON.parse(
  readFileSync(new URL('../fixtures/kubernetes.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': true } });
ajv.addSchema({ $id: 'kubernetes', definitions });

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the members depend on the kind
  spec: any;
}

/** Violations of the schema for the object's kind, such as `/spec/replicas must be integer`; empty if the object is valid. */
export function schemaErrorsOf(object: KubernetesObject): string[] {
  const name = kinds[`${object.apiVersion} ${object.kind}`];
  if (!name) return [`${object.apiVersion} ${object.kind} is not in the fixture`];
  const isValid = ajv.getSchema(`kubernetes#/definitions/${name}`)!;
  if (isValid(object)) return [];
  return isValid.errors!.map(
    ({ instancePath, message, params: { additionalProperty = '' } }) =>
      `${instancePath} ${message}${additionalProperty && `: ${additionalProperty}`}`,
  );
}
