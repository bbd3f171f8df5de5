// The sandbox templates of the organization: environments that agents work in.
import { sandboxTemplates, type TemplateRowFragment } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { CreateLink, Heading } from '../kit/heading.tsx';
import { RowList } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Skeleton } from '../kit/pieces.tsx';
import { useList } from '../kit/reading.ts';
import { plural, Time } from '../kit/words.tsx';
import { networkWords } from './network-field.tsx';

export function Templates() {
  const list = useList(sandboxTemplates, { limit: 25 }, (data) => data.sandboxTemplates);
  return (
    <>
      <Heading title="Sandbox templates">
        <CopyAs
          path="/sandbox-templates"
          graphql="{ sandboxTemplates { data { id name base } nextCursor } }"
          client="client.sandboxTemplates()"
          cli="aep templates list"
        />
        <CreateLink scope="agents:write" path="/templates/new" label="Create template" />
      </Heading>
      <p class="muted about">
        A template defines the image, setup and network of a mission’s sandbox. An agent’s own template takes
        precedence, then the project’s, then the standard one.
      </p>
      <Card title="Templates">
        <RowList list={list} skeleton={<Skeleton rows={4} height={54} />} empty={<p>There are no templates.</p>}>
          {(template) => <TemplateRow key={template.id} template={template} />}
        </RowList>
      </Card>
    </>
  );
}

export const baseWords = ({ base, image }: Pick<TemplateRowFragment, 'base' | 'image'>): string =>
  base === 'image' ? (image ?? 'Image') : base === 'dockerfile' ? 'Dockerfile' : 'The runtime’s machine';

function TemplateRow({ template }: { template: TemplateRowFragment }) {
  const { id, name, description, isBuiltin, projects, agents, agentNetwork, updatedAt } = template;
  const uses = [
    projects?.length && plural(projects.length, 'project'),
    agents.length && plural(agents.length, 'agent'),
  ].filter(Boolean);
  return (
    <li class="next-row">
      <div class="grow">
        <a class="row-link" href={pageAt(`/templates/${id}`)}>
          {name}
        </a>
        <div class="muted small break">
          {[isBuiltin && 'Built-in', baseWords(template), networkWords(agentNetwork), description]
            .filter(Boolean)
            .join(' · ')}
        </div>
      </div>
      <div class="when">
        {isBuiltin ? 'used if no other is chosen' : uses.join(', ') || 'not used'}
        {!isBuiltin && (
          <div>
            <Time at={updatedAt} />
          </div>
        )}
      </div>
    </li>
  );
}
