// The GraphQL mutation with which a runtime gets the signed attestations of a run's commits. The runtime then adds each attestation to its
// commit as a git note.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { members, typed } from '#graph/members.ts';
import { ofRun } from '../../execution/runtime/schema-runs.ts';
import { AttestationType } from '../../work/attestations/schema.ts';
import { signHeldRun } from './sign.ts';

const SignAttestationsRequest = request(
  'SignAttestationsRequest',
  z.object(ofRun).describe('The run whose commits are to be attested.'),
);
const SignedAttestations = builder.objectRef<Awaited<ReturnType<typeof signHeldRun>>>('SignedAttestations').implement({
  description: 'The attestations of a run.',
  fields: (t) => members(t, { data: typed([AttestationType], 'In the order of the commits.') }),
});

builder.mutationField('signAttestations', (t) =>
  t.field({
    description:
      'Signs what the platform knows now about the commits that were reported with the branch of a run. Add the envelopes to the commits ' +
      'as notes in `refs/notes/attestations`.',
    scope: 'runtime:report',
    type: SignedAttestations,
    args: { input: t.arg({ type: SignAttestationsRequest, required: true, description: 'The run.' }) },
    resolve: (_, { input }, { caller }) => signHeldRun(caller, input),
  }),
);
