// Labels that a sandbox template requires of runtimes: only a runtime with all these labels executes missions with the template.

/** SQL expression: the labels that the template asks for; `{}` for the built-in and for a deleted one. */
export const labelsOfTemplate = (templateId: string, orgId: string): string =>
  `coalesce((select t.labels from sandbox_templates t where t.id = ${templateId} and t.org_id = ${orgId}), '{}')`;

/** The wanted labels that the runtime does not offer. */
export const missingIn = (offered: readonly string[] | undefined, wanted: readonly string[] = []): string[] =>
  wanted.filter((label) => !offered?.includes(label));

/** The labels as readable text: `the label gpu`, `the labels arm64, gpu`. */
export const describeLabels = (labels: readonly string[]): string =>
  `the label${labels.length > 1 ? 's' : ''} ${labels.join(', ')}`;
