// Checks a REST response against the OpenAPI document: path, status, media type, and every member of the body.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Answer } from './world.ts';

type Json = Record<string, unknown>;

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string; content?: Json }> }>>;
  components: { responses: Record<string, { content?: Json }>; schemas: Record<string, Json> };
}

let contract: Promise<ReturnType<typeof contractOf>> | undefined;

/**
 * Checks of responses, compiled from the OpenAPI document of a service. All worlds share these checks, because their documents differ only
 * in the address of the service.
 */
export const openContract = (url: string): Promise<ReturnType<typeof contractOf>> =>
  (contract ??= fetch(`${url}/v1/openapi.json`).then(async (response) =>
    contractOf((await response.json()) as Document),
  ));

function contractOf(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: 'openapi', ...document } as Json, 'openapi');
  const compiled = new Map<string, ValidateFunction>();

  const templates = Object.keys(document.paths).map((template) => ({
    template,
    // Fixed segments win over parameters, as in the router.
    parameters: (template.match(/\{/g) ?? []).length,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]*')}$`),
  }));

  function validator(pointer: string): ValidateFunction {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  }

  return {
    document,
    /** Throws when the response deviates from the document. Unknown paths and methods return `Error`. */
    check(method: string, path: string, { status, body, headers }: Answer): void {
      const bare = path.split('?', 1)[0]!;
      const [found] = templates.filter(({ pattern }) => pattern.test(bare)).sort((a, b) => a.parameters - b.parameters);
      const operation = found && document.paths[found.template]?.[method.toLowerCase()];
      const where = `${method} ${bare} → ${status}`;
      let pointer: string | undefined;
      if (operation && status < 300) {
        if (!operation.responses[status]) throw new Error(`${where}: the document does not know this status`);
        pointer = answerPointer(found.template, method, status);
      } else if (status >= 400) {
        if (operation && status !== 405 && !operation.responses[status]) {
          throw new Error(`${where}: the document does not know this status`);
        }
        // OAuth and agent identity have their own error bodies; everything else returns `Error` or problem details.
        const own = operation?.responses[status]?.content;
        const record = headers.get('content-type') === problemDetailsType ? 'ProblemDetails' : 'Error';
        pointer = own ? answerPointer(found!.template, method, status) : `/components/schemas/${record}`;
      }
      if (!pointer || method === 'HEAD' || body === '') return;
      const validate = validator(pointer);
      if (!validate(body)) {
        throw new Error(`${where}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body, null, 2)}`);
      }
    },
  };
}

const problemDetailsType = 'application/problem+json';

const answerPointer = (template: string, method: string, status: number): string =>
  `/paths/${escaped(template)}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`;

const escaped = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');
