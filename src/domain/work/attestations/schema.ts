// Attestations of commits in all APIs.
import type { Envelope } from '#foundation/merkle/envelope.ts';
import { builder } from '#graph/builder.ts';
import { toMany } from '#graph/context.ts';
import { pathId } from '#graph/input.ts';
import { epochMs, int, members, string, typed } from '#graph/members.ts';
import { RunType } from '../runs/schema.ts';
import * as operations from './operations.ts';

const Signature = builder.objectRef<Envelope['signatures'][number]>('DsseSignature').implement({
  description: 'A signature of an envelope.',
  fields: (t) =>
    members(t, {
      keyid: string('The id of the key, among those at `/.well-known/audit-keys.json`.'),
      sig: string('The Ed25519 signature over the pre-authentication encoding of type and payload, in base64.'),
    }),
});
const EnvelopeType = builder.objectRef<Envelope>('DsseEnvelope').implement({
  description: 'A signed envelope (DSSE 1.0).',
  fields: (t) =>
    members(t, {
      payloadType: string('The type of the payload: `application/vnd.in-toto+json`.'),
      payload: string('The statement as canonical JSON (RFC 8785), in base64.'),
      signatures: typed([Signature], 'The signature of the platform.'),
    }),
});

export const AttestationType = builder.objectRef<operations.SignedAttestation>('Attestation').implement({
  description:
    'A signed statement about a commit of a mission. It contains the run, agents, harnesses, prompts, calls, approvals, reviews and cost ' +
    'that led to the commit, as the platform has seen them. The statement is signed again when one of these changes.',
  fields: (t) =>
    members(t, {
      sha: string('The commit.'),
      treeSha: string('The tree of the commit.'),
      runId: string('The run that produced the commit.'),
      projectId: string('The project of the run.'),
      position: int('Position among the commits of the run, from 1.'),
      keyId: string('The id of the signing key, which is one of the keys at `/.well-known/audit-keys.json`.'),
      signedAt: epochMs('When the statement was signed.'),
      createdAt: epochMs('When the runtime reported the commit.'),
      envelope: typed(EnvelopeType, 'The statement (in-toto Statement v1) in its envelope.'),
    }),
});

builder.queryField('attestation', (t) =>
  t.field({
    description: 'The signed statement about a commit of a mission.',
    scope: 'missions:read',
    rest: 'GET /attestations/{sha}',
    type: AttestationType,
    args: { sha: t.arg.string({ ...pathId, description: 'The whole id of the commit, in lower case.' }) },
    resolve: (_, { sha }, { caller }) => operations.findAttestation(caller, sha),
  }),
);

const loadAttestations = toMany<operations.SignedAttestation>(operations.attestationsOf, ({ runId }) => runId);

builder.objectField(RunType, 'attestations', (t) =>
  t.field({
    type: [AttestationType],
    graphOnly: true,
    complexity: { field: 1, multiplier: operations.attestationsPerParent },
    description: `The newest ${operations.attestationsPerParent} attested commits of the run, oldest first.`,
    resolve: ({ id }, _, context) => loadAttestations(context).load(id),
  }),
);
