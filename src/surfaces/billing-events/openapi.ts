// The endpoint of payment events as an OpenAPI 3.1 fragment.
const problem = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

export const billingEventPaths = {
  '/billing/events/{provider}': {
    post: {
      operationId: 'receivePaymentEvent',
      summary: 'Receives an event of a payment provider.',
      description: 'For payment providers. An event that was received before changes nothing.',
      tags: ['billing'],
      security: [],
      parameters: [
        {
          name: 'provider',
          in: 'path',
          required: true,
          description: '`stripe` when the service has its settings; `builtin` signs its own events.',
          schema: { type: 'string', enum: ['builtin', 'stripe'] },
        },
      ],
      requestBody: {
        required: true,
        description: 'The event as the provider signed it.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      responses: {
        200: {
          description: 'The event was received, by this or an earlier request.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { received: { type: 'boolean', const: true, description: 'Always true.' } },
                required: ['received'],
              },
            },
          },
        },
        400: problem('The event is not signed by the provider, or contradicts the stored records.'),
        404: problem('No such payment provider.'),
        429: problem('Too many events from one address.'),
        500: problem('The service failed; the request id identifies the failure in its log.'),
        503: problem('The service cannot answer at the moment.'),
      },
    },
  },
};
