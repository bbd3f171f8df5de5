// Runtimes' reports on the preparation and connections of an environment, with the limits of each field.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { safeIntInput } from '#graph/scalars.ts';
import { boundedText, nameText } from '#graph/validation.ts';
import { connectionReport, programsPerConnection } from '../../work/connections/bounds.ts';
import { ConnectionPhase, ConnectionVerdict } from '../../work/connections/schema.ts';
import { preparationBounds } from '../../work/preparations/bounds.ts';
import { PreparationStatus } from '../../work/preparations/schema.ts';
import * as operations from './environments.ts';
import { ReportAcknowledgement } from './schema-answers.ts';
import { commitSha, id, key, ofRun } from './schema-runs.ts';

const bytes = safeIntInput(connectionReport.bytes);
const ReportConnectionsRequest = request(
  'ReportConnectionsRequest',
  z
    .object({
      ...ofRun,
      reportId: key.describe('The runtime’s own id of this report: repeating the last report changes nothing.'),
      connections: z
        .array(
          z
            .object({
              host: boundedText(connectionReport.host).describe('The requested name or address, in lower case.'),
              port: z.int().min(0).max(65_535).describe('The requested port.'),
              phase: ConnectionPhase.zod.describe('The phase of the connection.'),
              verdict: ConnectionVerdict.zod.describe('Result of the connection.'),
              count: z
                .int()
                .min(1)
                .max(connectionReport.count)
                .describe('Number of connections since the last report.'),
              sentBytes: bytes.default(0).describe('Bytes sent to the host since the last report.'),
              receivedBytes: bytes.default(0).describe('Bytes received from the host since the last report.'),
              programs: z
                .array(nameText(connectionReport.program))
                .max(programsPerConnection)
                .default([])
                .describe(
                  'Names of the programs that requested the connections, without arguments; empty if they are unknown.',
                ),
            })
            .describe('Connections of one kind since the last report.'),
        )
        .min(1)
        .max(connectionReport.entries)
        .describe(`1 to ${connectionReport.entries} entries; equal entries are added up.`),
    })
    .describe('Connections that the sandbox of a run attempted. The platform adds them to the totals of the run.'),
);

const ReportPreparationRequest = request(
  'ReportPreparationRequest',
  z
    .object({
      ...ofRun,
      key: boundedText(preparationBounds.key).describe(
        'The runtime’s own id of the prepared environment: the same for the same template, commit and lock files.',
      ),
      templateId: id.describe('The `templateId` of the environment of the step.'),
      commit: commitSha
        .nullish()
        .describe('The commit that the environment is prepared at; absent without a repository.'),
      status: PreparationStatus.zod.describe('Status of the preparation.'),
      lastLines: boundedText(preparationBounds.lastLines).nullish().describe('The last lines of the setup’s log.'),
      notes: z
        .array(boundedText(preparationBounds.note))
        .max(preparationBounds.notes)
        .nullish()
        .describe(
          'Messages for people about parts that are left out, such as unsupported members of devcontainer.json.',
        ),
      seconds: z
        .number()
        .min(0)
        .max(preparationBounds.seconds)
        .nullish()
        .describe('Duration in seconds; 0 when an existing environment was reused.'),
      bytes: safeIntInput(preparationBounds.bytes).nullish().describe('Size on the disk.'),
    })
    .describe('Status of the preparation of the environment of a run. A later report replaces an earlier one.'),
);

const scope = 'runtime:report';

builder.mutationFields((t) => ({
  reportConnections: t.field({
    description: 'Records connections that the sandbox of a run tried to open, including blocked ones.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: ReportConnectionsRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => operations.reportConnections(caller, input),
  }),
  reportPreparation: t.field({
    description: 'Reports the status of the preparation of a run’s environment.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: ReportPreparationRequest, required: true, description: 'The report.' }) },
    resolve: (_, { input }, { caller }) => operations.reportPreparation(caller, input),
  }),
}));
