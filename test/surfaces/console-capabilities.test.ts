// Checks that the console covers the API. Each root field of the schema must occur in a GraphQL document of the console or in the table
// below. The table says which other page or client uses the field, or why the console does not need it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type FieldNode, Kind, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { rootFields } from '../support/root-fields.ts';

const folder = path.join(import.meta.dirname, '../../src/console');

/** Root fields used by the application, each with its documents. */
function usedByApplication(): Map<string, string[]> {
  const used = new Map<string, string[]>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.graphql'),
  )) {
    visit(parse(readFileSync(path.join(folder, file), 'utf8')), {
      OperationDefinition({ selectionSet }) {
        for (const field of selectionSet.selections.filter((one): one is FieldNode => one.kind === Kind.FIELD)) {
          used.set(field.name.value, [...(used.get(field.name.value) ?? []), file]);
        }
      },
    });
  }
  return used;
}

const runtime = 'of runtimes: a person does not report what an agent does';
const child = 'read with its parent';
const terminal = 'of aep push: a browser has no checkout';
const program = 'of aep audit: a program verifies the log, outside of the service';
const page = (address: string) => `page ${address}`;

const others: Record<string, string> = {
  admitMcpCall: runtime,
  appendFragments: runtime,
  appendLog: runtime,
  appendTerminalOutput: runtime,
  readTerminal: runtime,
  reportTerminalEnd: runtime,
  artifact: child,
  attestation: child,
  runCalls: 'of aep attestations: a program compares the calls with the statement',
  auditCheckpoints: program,
  auditConsistencyProof: program,
  auditEntries: program,
  auditEventProof: program,
  checkoutSession: page('/console/checkout/{checkoutId}'),
  claimRun: runtime,
  closeOrganization: page('/console/closure'),
  completeMcpOAuth: page('/console/mcp/callback'),
  createArtifactUpload: runtime,
  createCheckpointUpload: terminal,
  pushCheckpoint: terminal,
  budget: 'the list has all that a person needs',
  secret: 'the list has all that a person needs',
  createMembership: 'people are invited: they agree before they are members',
  createOrganization: page('/console/account'),
  environment: 'the project shows its environments with all that a person needs',
  exportOrganization: page('/console/closure'),
  finishRun: runtime,
  finishSandbox: runtime,
  finishStep: runtime,
  handBackRun: runtime,
  harnessDemand: runtime,
  leaveRuntime: runtime,
  runtimeDemand: 'an autoscaler reads it',
  runtimeOrders: runtime,
  heartbeat: runtime,
  moveEnvironment: runtime,
  openRepository: runtime,
  organizationClosure: page('/console/closure'),
  organizationExport: page('/console/closure'),
  organizations: page('/console/account'),
  registerArtifact: runtime,
  registerEnvironment: runtime,
  registerSandbox: runtime,
  reportBranch: runtime,
  reportCheckpoint: runtime,
  reportConnections: runtime,
  reportCost: runtime,
  reportMcpCall: runtime,
  openRecordingPart: runtime,
  reportRecordingPart: runtime,
  reportMcpTools: runtime,
  reportPreparation: runtime,
  reportModelRejected: runtime,
  reportSession: runtime,
  signAttestations: runtime,
  reportUsage: runtime,
  reserveModelCall: runtime,
  repositoryFile: runtime,
  runMcpCommands: runtime,
  runMcpServers: runtime,
  runModels: runtime,
  runMessages: child,
  runSteps: child,
  slugAvailability: 'the form of the slug says so when it is sent',
  slugPreview: 'an organization gets its slug from its name',
  updateSetupGroup: 'steps are skipped one by one',
};

test('every GraphQL root field is used by the console, or has a stated reason why not', () => {
  const used = usedByApplication();
  const names = rootFields.map(({ name }) => name);
  const unexplained = names.filter((name) => !used.has(name) && !others[name]);
  expect(unexplained, 'give each a page, or a reason in this table').toEqual([]);
  const stale = Object.keys(others).filter((name) => used.has(name) || !names.includes(name));
  expect(stale, 'remove these from the table: a page uses them, or they are gone').toEqual([]);
});
