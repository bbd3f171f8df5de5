// The agent card (A2A 1.0 §4.4, with the members that readers of 0.3 expect, §5.5 there). It names no skill before there is one.
import { catalog } from '#access/scopes.ts';
import { addresses, baseUrl } from '#foundation/addresses.ts';

const transport = 'JSONRPC';

export function agentCard(version: string) {
  const { a2a: url, issuer } = addresses();
  const flow = {
    authorizationUrl: `${issuer}/oauth/authorize`,
    tokenUrl: `${baseUrl()}/oauth2/token`,
    refreshUrl: `${baseUrl()}/oauth2/token`,
    scopes: Object.fromEntries(catalog.map(({ scope, description }) => [scope, description])),
  };
  const oauth2MetadataUrl = `${issuer}/.well-known/oauth-authorization-server`;
  const bearer = { scheme: 'bearer', description: 'A personal access token, `pat_…`.' };
  return {
    name: 'Agent Engineering Platform',
    description: 'Runs AI agents (missions) against software projects. Missions are not offered over A2A yet.',
    version,
    documentationUrl: `${issuer}/auth.md`,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: transport,
      protocolVersion,
    })),
    capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    // Each scheme is written as 1.0 has it (by its member) and as 0.3 has it (by its type).
    securitySchemes: {
      bearer: { type: 'http', ...bearer, httpAuthSecurityScheme: bearer },
      oauth2: {
        type: 'oauth2',
        flows: { authorizationCode: flow },
        oauth2MetadataUrl,
        oauth2SecurityScheme: { flows: { authorizationCode: { ...flow, pkceRequired: true } }, oauth2MetadataUrl },
      },
    },
    securityRequirements: [{ schemes: { oauth2: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
    protocolVersion: '0.3.0',
    url,
    preferredTransport: transport,
    security: [{ oauth2: [] }, { bearer: [] }],
  };
}
