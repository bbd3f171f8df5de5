// The agent card (A2A 1.0 §4.4), with the members that clients of version 0.3 expect (A2A 0.3 §5.5). It is signed with the service's key
// (A2A 1.0 §8.4).
import { canonicalizeAgentCard } from '@a2a-js/sdk';
import { catalog } from '#access/scopes.ts';
import { signText } from '#domain/identity/oauth/keys.ts';
import { addresses, baseUrl } from '#foundation/http/addresses.ts';

const transport = 'JSONRPC';

/** Skills in the agent card. Each description names members that a message may have in `metadata` or in data parts. */
const skills = [
  {
    id: 'run-mission',
    name: 'Run a mission',
    description:
      'Runs an AI agent on a project. The text of the message is its task. `metadata` or a data part may have `projectId` ' +
      '(needed when you reach several projects), `agentId` and `issue`.',
    tags: ['missions', 'code'],
    examples: ['Update the dependencies and open a pull request.'],
  },
  {
    id: 'run-scheduled-task',
    name: 'Run a scheduled task now',
    description: 'Runs a scheduled task at once. `metadata` or a data part has `scheduledTaskId`.',
    tags: ['missions', 'scheduled tasks'],
    examples: ['Run the Monday health check.'],
  },
  {
    id: 'steer-mission',
    name: 'Steer a mission',
    description:
      'A message with the `taskId` of a task that is not finished goes to its agent, which reads it in its current turn. ' +
      '`metadata` or a data part with `approvePlan: true` approves the plan of a task that waits for it (input required); ' +
      '`approveToolCall: true` or `false` decides about a tool call, with the text as the reason. ' +
      '`sandboxId` and `seq` of the metadata of the status message name the question that you answer: they are required when ' +
      'several questions wait, and without them the answer is for the one that waits when it arrives.',
    tags: ['missions', 'steering'],
    examples: ['Use the UTC helper instead.'],
  },
  {
    id: 'run-state',
    name: 'Get the state of a run',
    description: 'Returns the status of a run. `metadata` or a data part has `runId`, which is the id of the task too.',
    tags: ['missions', 'status'],
    examples: ['What is the state of the run?'],
  },
];

/** The card with a signature that clients verify with the published keys. */
export async function signedCard(card: ReturnType<typeof agentCard>) {
  // The function expects the card in its wire format, although its TypeScript type says otherwise.
  const signature = await signText(canonicalizeAgentCard(card as never), { typ: 'JOSE' });
  return { ...card, signatures: [signature] };
}

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
    description: 'Runs AI agents (missions) against software projects. A task is a run of a mission.',
    version,
    documentationUrl: `${issuer}/auth.md`,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: transport,
      protocolVersion,
    })),
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain'],
    skills,
    // Each scheme has the fields of both versions of the protocol: version 0.3 states the type in the field `type`, and version 1.0 has a
    // field whose name is the type.
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
