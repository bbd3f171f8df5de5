// Drains of runtimes in GraphQL: a runtime asks whether it must drain, and reports its shutdown.
import { z } from 'zod';
import { releaseVersion } from '#foundation/package-folder.ts';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { boolean, members, string } from '#graph/members.ts';
import { nameText } from '#graph/validation.ts';
import { text } from '#limits.ts';
import { isRuntimeDraining } from '../../identity/tokens/drains.ts';
import { leave } from './leave.ts';
import { ReportAcknowledgement } from './schema-answers.ts';

const scope = 'runtime:report';
const runtime = nameText(text.runtimeName);

const RuntimeOrdersType = builder.objectRef<{ isDraining: boolean; release: string }>('RuntimeOrders').implement({
  description: 'Instructions of people to a runtime, and the release that the runtime should have.',
  fields: (t) =>
    members(t, {
      isDraining: boolean(
        'Whether the runtime takes no new missions, and calls `leaveRuntime` once it has none. False again once a person lets the runtime take missions again.',
      ),
      release: string('Version of the service: a runner that updates itself installs this version of its package.'),
    }),
});

const LeaveRuntimeRequest = request(
  'LeaveRuntimeRequest',
  z
    .object({ runtime: runtime.describe('The name of this runtime, as in its claims.') })
    .describe('A runtime that shuts down.'),
);

builder.queryField('runtimeOrders', (t) =>
  t.field({
    description: 'The instructions of people to this runtime, which asks for them every ten seconds.',
    scope,
    type: RuntimeOrdersType,
    args: {
      runtime: t.arg.string({
        required: true,
        description: 'The name of this runtime, as in its claims.',
        validate: { schema: runtime },
      }),
    },
    resolve: async (_, args, { caller }) => ({
      isDraining: await isRuntimeDraining(caller, args.runtime),
      release: releaseVersion,
    }),
  }),
);

builder.mutationField('leaveRuntime', (t) =>
  t.field({
    description: 'Removes a runtime that shuts down from the list of runtimes. Its runs keep their leases.',
    scope,
    type: ReportAcknowledgement,
    args: { input: t.arg({ type: LeaveRuntimeRequest, required: true, description: 'The runtime.' }) },
    resolve: async (_, { input }, { caller }) => {
      await leave(caller, input.runtime);
      return { ok: true as const };
    },
  }),
);
