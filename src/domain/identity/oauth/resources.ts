// The resources that tokens are issued for: API, MCP and A2A (RFC 8707, RFC 9728; docs/contract.md#tokens-and-resources). A token is valid
// at one resource.
import { addresses, baseUrl } from '#foundation/http/addresses.ts';
import { addressOfCell, otherCells } from '#foundation/http/cells.ts';
import { invalidTarget } from './errors.ts';

export const resources = ['api', 'mcp', 'a2a'] as const;
export type Resource = (typeof resources)[number];

/** The resource identifier: an absolute URI, as metadata and clients spell it. */
export function resourceUri(resource: Resource): string {
  const { baseHost, mcp, a2a } = addresses();
  return { api: baseHost, mcp: `${mcp}/mcp`, a2a }[resource];
}

/** URL of the resource's metadata: the well-known segment is inserted between host and path (RFC 9728 §3.1). */
export const resourceMetadataUrl = (resource: Resource): string => metadataUrlOf(resourceUri(resource));

export function metadataUrlOf(identifier: string): string {
  const { origin, pathname } = new URL(identifier);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}

/** The resource of a `resource` parameter; the API when it is absent. @throws invalid_target */
export function resourceOf(uri: string | undefined): Resource {
  if (uri === undefined) return 'api';
  const wanted = comparable(uri);
  if (wanted === null) throw invalidTarget('resource: must be an absolute URI without a fragment.');
  // If all resources share one host, the API is matched first, so that the URL of the host without a path means the API.
  const names: [string, Resource][] = [
    ...resources.map((resource): [string, Resource] => [resourceUri(resource), resource]),
    [baseUrl(), 'api'],
    [addresses().mcp, 'mcp'],
    // Clients of an organization that was moved here from another cell keep the resource identifiers of that cell.
    ...otherCells().flatMap((cell): [string, Resource][] => {
      const address = addressOfCell(cell);
      return [
        [address, 'api'],
        [`${address}/v1`, 'api'],
        [`${address}/mcp`, 'mcp'],
        [`${address}/a2a`, 'a2a'],
      ];
    }),
  ];
  const known = names.find(([name]) => comparable(name) === wanted);
  if (known) return known[1];
  throw invalidTarget(`resource: must be one of ${resources.map(resourceUri).join(', ')}.`);
}

/** The resource that an agent requests a token for. @throws invalid_target */
export function agentResourceOf(uri: string | undefined): Resource {
  const resource = resourceOf(uri);
  if (resource === 'a2a') throw invalidTarget('resource: must be the API or the MCP server for an agent.');
  return resource;
}

/** A URI with its scheme and host in lower case; if the URI ends with a slash, one slash is removed. Null for text that is not a resource URI. */
function comparable(uri: string): string | null {
  const [, start, rest] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]+)([^#]*)$/i.exec(uri) ?? [];
  if (start === undefined || !URL.canParse(uri)) return null;
  return start.toLowerCase() + rest!.replace(/\/$/, '');
}
