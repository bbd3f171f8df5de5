// GraphQL types for the services of sandbox templates.
import { z } from 'zod';
import { builder } from '#graph/builder.ts';
import { members, string, stringOrNull, typed } from '#graph/members.ts';
import { boundedText, range } from '#graph/validation.ts';
import { weightOf } from '#graph/weight.ts';
import { templateCounts, templateText } from './bounds.ts';
import { imageName, VariableType, variables } from './schema-parts.ts';
import type { Service } from './settings.ts';

export const ServiceType = builder.objectRef<Service>('TemplateService').implement({
  description: 'A container that runs next to each mission, such as a database: the mission reaches it at `localhost`.',
  fields: (t) =>
    members(t, {
      name: string('The name of the service, unique in the template.'),
      image: string('The container image of the service.'),
      variables: typed(
        [VariableType],
        'Environment variables of the service alone. `$' +
          '{secret:NAME}` in a value is replaced by the value of NAME, which must be a secret for the setup.',
      ),
      command: t.exposeStringList('command', {
        nullable: true,
        complexity: weightOf(templateText.command.max),
        description: 'Arguments that replace the command of the image; null means the command of the image.',
      }),
      healthCheck: stringOrNull(
        'Shell command in the container that succeeds once the service is ready; null means that the service is ready once its ' +
          'container has run for two seconds.',
      ),
    }),
});

const service = z
  .object({
    name: boundedText(templateText.serviceName)
      .regex(/^[a-z][a-z0-9-]*$/, 'must be lower-case letters, digits and hyphens, beginning with a letter')
      .describe(
        `The name, ${range(templateText.serviceName)} lower-case letters, digits and hyphens; unique in the template.`,
      ),
    image: imageName.describe('A container image.'),
    variables: variables.default([]),
    command: z
      .array(boundedText(templateText.command).describe('An argument.'))
      .min(1)
      .max(templateCounts.arguments)
      .refine((list) => list.join('').length <= templateText.command.max, {
        error: `must have at most ${templateText.command.max} characters together`,
      })
      .nullable()
      .default(null)
      .describe('Arguments that replace the command of the image; null means the command of the image.'),
    healthCheck: boundedText(templateText.healthCheck)
      .nullable()
      .default(null)
      .describe(
        'Shell command in the container that succeeds once the service is ready; null means that the service is ready once its ' +
          'container has run for two seconds.',
      ),
  })
  .describe('A container that runs next to each mission.');

export const services = z
  .array(service)
  .max(templateCounts.services)
  .superRefine((list, issues) => {
    const repeated = list.findIndex(({ name }, at) => list.findIndex((one) => one.name === name) < at);
    if (repeated < 0) return;
    issues.addIssue({ code: 'custom', path: [repeated, 'name'], message: `${list[repeated]!.name} is listed twice` });
  })
  .describe(`At most ${templateCounts.services} services, which need a runtime with containers.`);
