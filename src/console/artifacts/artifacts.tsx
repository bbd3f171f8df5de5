// Artifacts of agents: pictures, videos and texts are shown, and every file can be downloaded.

import { type ArtifactCardFragment, type ArtifactKind, artifacts } from '../generated/documents.ts';
import { CopyAs } from '../kit/copy-as.tsx';
import { asOptions, FilterChoice, OrderFilter, ProjectFilter, useOrder, useWord } from '../kit/filters.tsx';
import { Heading } from '../kit/heading.tsx';
import { ListView } from '../kit/list-view.tsx';
import { pageAt } from '../kit/page.ts';
import { Card, Pill, Skeleton } from '../kit/pieces.tsx';
import { useFilter, useList, useRefresh } from '../kit/reading.ts';
import { isText, TextPreview } from '../kit/text-preview.tsx';
import { size, Time } from '../kit/words.tsx';

type Proof = ArtifactCardFragment & { project?: { name: string } | null };

const kinds: readonly ArtifactKind[] = ['screenshot', 'video', 'trace', 'log', 'report', 'file'];

export function Gallery() {
  const [projectId] = useFilter('projectId');
  const kind = useWord('kind', kinds);
  const order = useOrder();
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ projectId, kind, order })) if (value !== null) query.set(name, value);
  const list = useList(artifacts, { projectId, kind, order, limit: 24 }, (data) => data.artifacts);
  useRefresh(list.read);
  return (
    <>
      <Heading title="Artifacts">
        <CopyAs
          path={`/artifacts${query.size > 0 ? `?${query}` : ''}`}
          graphql="{ artifacts(limit: 24) { data { id caption url } nextCursor } }"
          client={`client.artifacts(${query.size > 0 ? JSON.stringify(Object.fromEntries(query)) : ''})`}
          cli="aep artifacts list"
        />
      </Heading>
      <div class="filters">
        <ProjectFilter />
        <FilterChoice name="kind" label="Kind" options={asOptions(kinds)} />
        <OrderFilter />
      </div>
      <Card title="Artifacts">
        <ListView
          list={list}
          skeleton={<Skeleton rows={2} height={240} />}
          empty={
            <p>
              {kind
                ? 'No artifacts of this kind.'
                : `${projectId ? 'This project has' : 'There are'} no artifacts yet. Agents create them during missions.`}
            </p>
          }
        >
          {(rows) => <ArtifactGrid rows={rows} />}
        </ListView>
      </Card>
    </>
  );
}

export const ArtifactGrid = ({ rows, small = false }: { rows: Proof[]; small?: boolean }) => (
  <ul class={small ? 'gallery small-gallery' : 'gallery'}>
    {rows.map((artifact) => (
      <li key={artifact.id} class="artifact">
        <Preview artifact={artifact} />
        <div class="artifact-words">
          <div class="clip-2">{nameOf(artifact)}</div>
          {artifact.criterion && (
            <div class="small criterion">
              {artifact.criterionPassed !== null && <Pill status={artifact.criterionPassed ? 'passed' : 'failed'} />}
              <span class="clip-2">{artifact.criterion}</span>
            </div>
          )}
          {isText(typeOf(artifact)) && (
            <TextPreview
              url={artifact.url}
              type={typeOf(artifact)}
              name={nameOf(artifact)}
              sizeBytes={artifact.sizeBytes}
            />
          )}
          <div class="muted small">
            {[artifact.project?.name, artifact.role].filter(Boolean).join(' · ')} · <Time at={artifact.createdAt} />
          </div>
          <div class="links small">
            <a href={artifact.url} download>
              Download<span class="unseen"> {nameOf(artifact)}</span>
            </a>{' '}
            <span class="muted">{size(artifact.sizeBytes)}</span>
            {artifact.traceViewerUrl && (
              <a href={artifact.traceViewerUrl} rel="noreferrer" target="_blank">
                Open trace
              </a>
            )}
            {artifact.sandboxId && <a href={pageAt(`/sandboxes/${artifact.sandboxId}`)}>Sandbox</a>}
          </div>
        </div>
      </li>
    ))}
  </ul>
);

const typeOf = ({ contentType }: Proof): string => contentType.split(';', 1)[0]!.trim().toLowerCase();

const nameOf = ({ caption, kind }: Proof): string => caption ?? kind[0]!.toUpperCase() + kind.slice(1);

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const videos = ['video/mp4', 'video/webm'];

function Preview({ artifact }: { artifact: Proof }) {
  const { url, kind } = artifact;
  const type = typeOf(artifact);
  if (pictures.includes(type)) {
    return (
      <a class="preview" href={url} target="_blank" rel="noreferrer" aria-label={`${nameOf(artifact)}, full size`}>
        <img src={url} alt={nameOf(artifact)} loading="lazy" decoding="async" />
      </a>
    );
  }
  if (videos.includes(type)) {
    return (
      // biome-ignore lint/a11y/useMediaCaption: what an agent recorded comes without captions
      <video class="preview" src={url} controls preload="metadata" aria-label={nameOf(artifact)} />
    );
  }
  return (
    <div class="preview paper" aria-hidden="true">
      <span>{kind}</span>
      <small>{type}</small>
    </div>
  );
}
