// The form that creates a project for a repository.
import { useLocation } from 'preact-iso';
import { createProject, type ProjectTracker } from '../generated/documents.ts';
import { mutate } from '../kit/client.ts';
import { Choice, FormFrame, optional, Text } from '../kit/fields.tsx';
import { useForm } from '../kit/form.ts';
import { Heading } from '../kit/heading.tsx';
import { pageAt } from '../kit/page.ts';
import { Card } from '../kit/pieces.tsx';
import { trackers } from '../kit/vendors.tsx';

export function NewProject() {
  const { route } = useLocation();
  const form = useForm({
    name: 'project',
    initial: { name: '', repoFullName: '', tracker: 'builtin', trackerTeamKey: '', issueCode: '' },
    async send({ name, repoFullName, tracker, trackerTeamKey, issueCode }, key) {
      const input = {
        name,
        repoFullName,
        tracker: tracker as ProjectTracker,
        ...(optional(trackerTeamKey) && { trackerTeamKey: optional(trackerTeamKey) }),
        ...(optional(issueCode) && { issueCode: optional(issueCode) }),
      };
      route(pageAt(`/projects/${(await mutate(createProject, { input }, key)).createProject.id}`));
    },
  });
  return (
    <>
      <Heading title="Create a project" above={[[pageAt('/projects'), 'Projects']]} />
      <Card title="Project">
        <FormFrame form={form} action="Create project" cancel={pageAt('/projects')}>
          <Text form={form} name="name" label="Name" maxLength={120} required />
          <Text form={form} name="repoFullName" label="Repository" required>
            The owner and the name, such as acme/shop, at the connected source host. Write a subgroup as
            group%2Fsubgroup/project.
          </Text>
          <Choice form={form} name="tracker" label="Issue tracker" options={Object.entries(trackers)} />
          {form.values.tracker !== 'builtin' && (
            <Text form={form} name="trackerTeamKey" label="Team">
              The key of the team in the tracker.
            </Text>
          )}
          <Text form={form} name="issueCode" label="Issue code">
            2 to 10 capital letters or digits, as in WEB-12. Optional.
          </Text>
        </FormFrame>
      </Card>
    </>
  );
}
