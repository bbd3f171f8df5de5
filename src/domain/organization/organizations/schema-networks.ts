// Allowed networks of an organization, in GraphQL only, like the other settings of its sign-in.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { request } from '#graph/input.ts';
import { members, stringOrNull, strings } from '#graph/members.ts';
import { boundedText } from '#graph/validation.ts';
import { type AllowedNetworks, findAllowedNetworks, readNetwork, setAllowedNetworks } from './allowed-networks.ts';
import { allowedNetworks } from './bounds.ts';

const AllowedNetworksType = builder.objectRef<AllowedNetworks>('AllowedNetworks').implement({
  description:
    'The networks from which an organization accepts its credentials. Requests from other networks are refused with the code `address_not_allowed`.',
  fields: (t) =>
    members(t, {
      networks: strings('The networks in CIDR notation; empty when requests may come from any address.'),
      address: stringOrNull('The address of the present request, as the service sees it; null when it is unknown.'),
    }),
});

const network = boundedText(allowedNetworks.text).refine((text) => readNetwork(text) !== null, {
  error: ({ input }) =>
    `${JSON.stringify(input)} is not an IPv4 or IPv6 network in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32`,
});
const SetAllowedNetworksRequest = request(
  'SetAllowedNetworksRequest',
  z
    .object({
      networks: z
        .array(network)
        .max(allowedNetworks.max)
        .describe(
          `The networks in CIDR notation, IPv4 and IPv6, at most ${allowedNetworks.max}; a single address is also allowed. Must contain ` +
            'the address of this request; an empty list allows requests from any address.',
        ),
    })
    .meta({ description: 'The whole list.', examples: [{ networks: ['203.0.113.0/24', '2001:db8:1::/48'] }] }),
);

builder.queryField('allowedNetworks', (t) =>
  t.field({
    description: 'The networks from which the organization accepts its credentials.',
    scope: 'sign-in:read',
    type: AllowedNetworksType,
    resolve: (_, _args, { caller }) => findAllowedNetworks(caller),
  }),
);

builder.mutationField('setAllowedNetworks', (t) =>
  t.field({
    description:
      'Sets the networks from which the organization accepts its credentials: sessions of its members, tokens, and open subscriptions. The ' +
      'change takes effect with the next request.',
    scope: 'sign-in:write',
    type: AllowedNetworksType,
    args: { input: t.arg({ type: SetAllowedNetworksRequest, required: true, description: 'The new list.' }) },
    resolve: (_, { input }, { caller }) => setAllowedNetworks(caller, input),
  }),
);
