// Webhook endpoints in all APIs. Their secret is shown when it is set, and never again.
import { z } from 'zod';
import { okIdAnswer } from '#graph/acknowledgement.ts';
import { builder } from '#graph/builder.ts';
import { pathId, request } from '#graph/input.ts';
import {
  boolean,
  epochMs,
  epochMsOrNull,
  members,
  safeInt,
  string,
  stringOrNull,
  strings,
  typed,
  typedOrNull,
} from '#graph/members.ts';
import { pageArguments, pageOf } from '#graph/page.ts';
import { wordSet } from '#graph/scalars.ts';
import { boundedText, nameText, range } from '#graph/validation.ts';
import { pages, text } from '#limits.ts';
import { eventTypeRule, eventTypes, isEventType } from '../audit/event-types.ts';
import { webhookCounts, webhookText } from './bounds.ts';
import { disabledReasons, WebhookEndpoint } from './model.ts';
import * as operations from './operations.ts';

const DisabledReason = wordSet('WebhookDisabledReason', disabledReasons, 'Why an endpoint gets no events.', {
  person: 'A person has disabled it.',
  gone: 'Its receiver answered with 410.',
  failing: 'Every attempt in five days failed.',
});

export const EndpointType = builder.modelType(WebhookEndpoint, 'WebhookEndpoint').implement({
  description: 'A URL that gets events of the organization, signed as in Standard Webhooks.',
  fields: (t) =>
    members(t, {
      id: string('The id, which starts with `whk_`.'),
      orgId: string('The organization of the endpoint.'),
      name: string(`The name, ${range(webhookText.name)} characters.`),
      url: string('The URL that gets a POST for each event.'),
      types: strings('Types of events that are sent; empty for all.'),
      projectIds: strings('Projects whose events are sent; empty for all events of the organization.'),
      ordered: boolean('Whether events are sent one after the other, in the order of their numbers.'),
      enabled: t.boolean({
        description: 'Whether events are sent. An endpoint that is enabled again continues where it stopped.',
        resolve: ({ disabledAt }) => disabledAt === null,
      }),
      disabledAt: epochMsOrNull('When the endpoint was disabled; null while it is enabled.'),
      disabledReason: typedOrNull(DisabledReason.type, 'Why the endpoint was disabled; null while it is enabled.'),
      failingSince: epochMsOrNull('When the attempts began to fail; null after a success.'),
      lastNumber: safeInt('Number of the last event in the log that was read for the endpoint.'),
      createdByUserId: stringOrNull(
        'The person who created the endpoint; null when a program created it, and once the account is deleted.',
      ),
      createdAt: epochMs('When the endpoint was created.'),
      updatedAt: epochMs('When the endpoint was last changed.'),
    }),
});
const EndpointWithSecret = builder.objectRef<operations.EndpointWithSecret>('WebhookEndpointWithSecret').implement({
  description: 'An endpoint with its secret, which is shown only once.',
  fields: (t) =>
    members(t, {
      endpoint: typed(EndpointType, 'The endpoint.'),
      secret: string('The secret that verifies signatures, `whsec_` and base64.'),
    }),
});
const EndpointPage = pageOf('WebhookEndpointPage', EndpointType);
const DeleteEndpointResponse = okIdAnswer('DeleteWebhookEndpointResponse');

const name = nameText(webhookText.name).describe(`The name, ${range(webhookText.name)} characters.`);
const url = boundedText(webhookText.url).describe('An https URL of a public host.');
const types = z
  .array(boundedText(eventTypes.length).refine(isEventType, eventTypeRule))
  .max(eventTypes.max)
  .optional()
  .describe(
    `At most ${eventTypes.max} types, such as \`run.completed\`, or a kind of record and \`.*\` for all of its types. Empty for all.`,
  );
const projectIds = z
  .array(boundedText(text.pathId))
  .max(webhookCounts.projects)
  .optional()
  .describe(`At most ${webhookCounts.projects} projects. Empty for all events of the organization.`);
const ordered = z
  .boolean()
  .optional()
  .describe(
    'Whether events are sent one after the other, in the order of their numbers: an event that fails delays all later ones, for three days at most. ' +
      'Otherwise, several events are sent at once.',
  );
const example = { name: 'Our dashboard', url: 'https://hooks.example.com/events', types: ['run.completed'] };
const CreateRequest = request(
  'CreateWebhookEndpointRequest',
  z.object({ name, url, types, projectIds, ordered }).meta({ description: 'A new endpoint.', examples: [example] }),
);
const UpdateRequest = request(
  'UpdateWebhookEndpointRequest',
  z
    .object({
      ...{ name: name.optional(), url: url.optional(), types, projectIds, ordered },
      enabled: z.boolean().optional().describe('Whether events are sent.'),
    })
    .meta({ description: 'Omitted fields keep their value.', examples: [{ enabled: false }] }),
);

export const endpointId = { ...pathId, description: 'The id of the endpoint.' } as const;

builder.queryFields((t) => ({
  webhookEndpoints: t.field({
    description: 'URLs that get events of the organization, newest first.',
    scope: 'webhooks:read',
    rest: 'GET /webhook-endpoints',
    tool: 'list_webhook_endpoints',
    type: EndpointPage,
    args: pageArguments(pages.other),
    resolve: (_, page, { caller }) => operations.listEndpoints(caller, page),
  }),
  webhookEndpoint: t.field({
    description: 'An endpoint by its id.',
    scope: 'webhooks:read',
    rest: 'GET /webhook-endpoints/{endpointId}',
    type: EndpointType,
    args: { endpointId: t.arg.string(endpointId) },
    resolve: (_, args, { caller }) => operations.findEndpoint(caller, args.endpointId),
  }),
}));

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    description: `Creates an endpoint and returns its secret, which cannot be read later. The endpoint gets the events that occur from now on. An organization has at most ${webhookCounts.endpoints} endpoints.`,
    scope: 'webhooks:write',
    rest: { route: 'POST /webhook-endpoints', status: 201, errors: [404, 409] },
    type: EndpointWithSecret,
    args: { input: t.arg({ type: CreateRequest, required: true, description: 'The new endpoint.' }) },
    resolve: (_, { input }, { caller }) => operations.createEndpoint(caller, input),
  }),
  updateWebhookEndpoint: t.field({
    description: 'Changes an endpoint, disables it, or enables it again.',
    scope: 'webhooks:write',
    rest: 'PATCH /webhook-endpoints/{endpointId}',
    type: EndpointType,
    args: {
      endpointId: t.arg.string(endpointId),
      input: t.arg({ type: UpdateRequest, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, { caller }) => operations.changeEndpoint(caller, args.endpointId, args.input),
  }),
  replaceWebhookSecret: t.field({
    description:
      'Replaces the secret of an endpoint and returns the new secret once. For a day, messages are also signed with the earlier secret.',
    scope: 'webhooks:write',
    rest: 'PUT /webhook-endpoints/{endpointId}/secret',
    type: EndpointWithSecret,
    args: { endpointId: t.arg.string(endpointId) },
    resolve: (_, args, { caller }) => operations.replaceSecret(caller, args.endpointId),
  }),
  deleteWebhookEndpoint: t.field({
    description: 'Deletes an endpoint with its deliveries.',
    scope: 'webhooks:write',
    rest: 'DELETE /webhook-endpoints/{endpointId}',
    type: DeleteEndpointResponse,
    args: { endpointId: t.arg.string(endpointId) },
    resolve: (_, args, { caller }) => operations.deleteEndpoint(caller, args.endpointId),
  }),
}));
