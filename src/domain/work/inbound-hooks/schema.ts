// Inbound hooks in all APIs. Their secret is shown when it is set, and never again.
import { z } from 'zod';
import { addresses } from '#foundation/http/addresses.ts';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import { boolean, epochMs, epochMsOrNull, members, string, stringOrNull, typed } from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { pages } from '#limits.ts';
import { eventWords, signatureWords } from '../../projects/integrations/vendor-words.ts';
import { inboundCounts, inboundText } from './bounds.ts';
import { hookSignatures, hookVendors, InboundHook } from './model.ts';
import * as hooks from './operations.ts';

const HookVendor = wordSet('InboundHookVendor', hookVendors, 'The system whose events a hook understands.', {
  ...eventWords.texts,
  builtin: 'The built-in tracker. Its hook is created with its first event and accepts no requests.',
  webhook: 'Any system; filters and templates read its payload.',
});
const HookSignature = wordSet(
  'InboundHookSignature',
  hookSignatures,
  'How a sender signs its events with the secret.',
  {
    ...signatureWords.texts,
    standard: 'Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`.',
    header: 'HMAC-SHA256 of the body, as hex or base64, in a header of your choice.',
  },
);

export const InboundHookType = builder.modelType(InboundHook, 'InboundHook').implement({
  description: 'A URL to which another system sends signed events.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `hok_`.'),
      orgId: string('The organization of the hook.'),
      name: string(`The name, ${range(inboundText.hookName)} characters.`),
      vendor: typed(HookVendor.type, 'The system whose events the hook understands.'),
      signature: typed(HookSignature.type, 'How the sender signs events.'),
      signatureHeader: stringOrNull('The header with the signature; null unless `signature` is `header`.'),
      address: t.string({
        description:
          'The URL to which the sender sends its events. A person enters the URL in the settings of the sender. The hook of the built-in tracker accepts no requests.',
        resolve: ({ id }) => `${addresses().baseHost}/hooks/${id}`,
      }),
      enabled: boolean('Whether events of the hook start missions; a disabled hook still stores its events.'),
      createdByUserId: stringOrNull(
        'The person who created the hook; null when a program created it, and once the account is deleted.',
      ),
      lastDeliveryAt: epochMsOrNull('When the last event with a valid signature arrived; null before the first.'),
      createdAt: epochMs('When the hook was created.'),
      updatedAt: epochMs('When the hook was last changed.'),
    }),
});
const HookWithSecret = builder.objectRef<hooks.HookWithSecret>('InboundHookWithSecret').implement({
  description: 'A hook with its secret, which is shown only once.',
  fields: (t) =>
    members(t, {
      hook: typed(InboundHookType, 'The hook.'),
      secret: string(
        'The secret with which the sender signs its events. A person enters the secret in the settings of the sender.',
      ),
    }),
});
const HookPage = pageOf('InboundHookPage', InboundHookType);
const DeleteHookResponse = okIdAnswer('DeleteInboundHookResponse');

const name = nameText(inboundText.hookName).describe(`The name, ${range(inboundText.hookName)} characters.`);
const secret = boundedText(inboundText.secret)
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')
  .optional()
  .describe(`A secret that the sender has chosen, ${range(inboundText.secret)} characters. Absent means a new one.`);
const CreateRequest = request(
  'CreateInboundHookRequest',
  z
    .object({
      name,
      vendor: HookVendor.zod.describe('The system whose events the hook understands.'),
      signature: HookSignature.zod
        .optional()
        .describe(
          'How the sender signs events. Absent means the vendor’s own scheme, or Standard Webhooks for any other system.',
        ),
      signatureHeader: boundedText(inboundText.header)
        .regex(/^[\w-]+$/, 'must be the name of a header')
        .nullish()
        .describe(
          'The name of the header that contains the signature. Required if `signature` is `header`; otherwise it must be absent or null.',
        ),
      secret,
    })
    .meta({ description: 'A new hook.', examples: [{ name: 'GitHub of Acme', vendor: hookVendors[0] }] }),
);
const UpdateRequest = request(
  'UpdateInboundHookRequest',
  z
    .object({
      name: name.optional(),
      enabled: z
        .boolean()
        .optional()
        .describe('Whether events of the hook start missions; a disabled hook still stores its events.'),
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ enabled: false }] }),
);
const SecretRequest = request(
  'ReplaceInboundHookSecretRequest',
  z.object({ secret }).meta({ description: 'The new secret.', examples: [{}] }),
);

export const hookId = { ...pathId, description: 'The id of the hook.' } as const;

builder.queryFields((t) => ({
  inboundHooks: t.field({
    description: 'Hooks that receive events from other systems, newest first.',
    scope: 'integrations:read',
    rest: 'GET /inbound-hooks',
    tool: 'list_inbound_hooks',
    type: HookPage,
    args: pageArguments(pages.other),
    resolve: (_, page, { caller }) => hooks.listHooks(caller, page),
  }),
  inboundHook: t.field({
    description: 'A hook by its id.',
    scope: 'integrations:read',
    rest: 'GET /inbound-hooks/{hookId}',
    type: InboundHookType,
    args: { hookId: t.arg.string(hookId) },
    resolve: (_, args, { caller }) => hooks.findHook(caller, args.hookId),
  }),
}));

builder.mutationFields((t) => ({
  createInboundHook: t.field({
    description: `Creates a hook, at most ${inboundCounts.hooks} per organization, and returns its secret once.`,
    scope: 'integrations:write',
    rest: { route: 'POST /inbound-hooks', status: 201, errors: [409] },
    type: HookWithSecret,
    args: { input: t.arg({ type: CreateRequest, required: true, description: 'The new hook.' }) },
    resolve: (_, { input }, { caller }) => hooks.createHook(caller, input),
  }),
  updateInboundHook: t.field({
    description: 'Renames, disables or enables a hook.',
    scope: 'integrations:write',
    rest: 'PATCH /inbound-hooks/{hookId}',
    type: InboundHookType,
    args: {
      hookId: t.arg.string(hookId),
      input: t.arg({ type: UpdateRequest, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, { caller }) => hooks.changeHook(caller, args.hookId, args.input),
  }),
  replaceInboundHookSecret: t.field({
    description:
      'Replaces the secret of a hook and returns the new secret once. Events signed with the earlier secret are refused.',
    scope: 'integrations:write',
    rest: { route: 'PUT /inbound-hooks/{hookId}/secret', errors: [409] },
    type: HookWithSecret,
    args: {
      hookId: t.arg.string(hookId),
      input: t.arg({ type: SecretRequest, description: 'The new secret; absent means a new random one.' }),
    },
    resolve: (_, args, { caller }) => hooks.replaceHookSecret(caller, args.hookId, args.input?.secret),
  }),
  deleteInboundHook: t.field({
    description: 'Deletes a hook with its deliveries. Later events for it are refused.',
    scope: 'integrations:write',
    rest: { route: 'DELETE /inbound-hooks/{hookId}', errors: [409] },
    type: DeleteHookResponse,
    args: { hookId: t.arg.string(hookId) },
    resolve: (_, args, { caller }) => hooks.deleteHook(caller, args.hookId),
  }),
}));
