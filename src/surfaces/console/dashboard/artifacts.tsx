// What agents left behind as proof: pictures and videos shown, everything else to download.

import { CopyAs } from './copy-as.tsx';
import { type ArtifactCardFragment, artifacts } from './documents.ts';
import { Heading } from './heading.tsx';
import { Card, Shown, Skeleton } from './pieces.tsx';
import { ProjectChoice } from './project-choice.tsx';
import { useBeat, useFilter, useList } from './reading.ts';
import { isText, TextPreview } from './text-preview.tsx';
import { size, Time } from './words.tsx';

type Proof = ArtifactCardFragment & { project?: { name: string } | null };

export function Gallery() {
  const [projectId, choose] = useFilter('projectId');
  const list = useList(
    artifacts,
    { projectId, limit: 24 },
    (data) => data.artifacts,
    (one) => one.id,
  );
  useBeat(list.read);
  return (
    <>
      <Heading title="Artifacts">
        <CopyAs
          path={`/artifacts${projectId ? `?projectId=${projectId}` : ''}`}
          graphql="{ artifacts(limit: 24) { data { id caption url } nextCursor } }"
          client="client.artifacts()"
          cli="aep artifacts list"
        />
      </Heading>
      <div class="filters">
        <ProjectChoice value={projectId} choose={choose} />
      </div>
      <Card title="Proof of work, newest first">
        <Shown
          list={list}
          skeleton={<Skeleton rows={2} height={240} />}
          empty={
            <p>
              {projectId ? 'This project has' : 'There are'} no artifacts yet. Agents leave them when a mission runs.
            </p>
          }
        >
          {(rows) => <ArtifactGrid rows={rows} />}
        </Shown>
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
              {artifact.criterionPassed !== null && (
                <span class={`pill ${artifact.criterionPassed ? 'good' : 'bad'}`}>
                  {artifact.criterionPassed ? 'passed' : 'failed'}
                </span>
              )}
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
            {artifact.sandboxId && <a href={`/console/sandboxes/${artifact.sandboxId}`}>Sandbox</a>}
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
