// The members of GitLab's payloads that triggers read (docs.gitlab.com, "Webhook events").
import { z } from 'zod';

const User = z.object({ id: z.int().nullish(), username: z.string() });
const Project = z.object({ path_with_namespace: z.string() });
const Label = z.object({ title: z.string() });
/** Labels or people before and after an update. */
const Changes = z
  .object({
    labels: z.object({ previous: z.array(Label).nullish(), current: z.array(Label).nullish() }).nullish(),
    assignees: z.object({ previous: z.array(User).nullish(), current: z.array(User).nullish() }).nullish(),
  })
  .nullish();

const Common = z.object({ user: User, project: Project });
export const Described = z.object({
  iid: z.int(),
  title: z.string(),
  description: z.string().nullish(),
  state: z.string().nullish(),
});
export const Labeled = Common.extend({
  labels: z.array(Label).nullish(),
  assignees: z.array(User).nullish(),
  changes: Changes,
});
export const GitLabIssueEvent = Labeled.extend({
  object_attributes: Described.extend({
    action: z.string().nullish(),
    url: z.string(),
    updated_at: z.string().nullish(),
  }),
});
export const MergeRequestEvent = Labeled.extend({
  object_attributes: Described.extend({
    action: z.string().nullish(),
    url: z.string(),
    updated_at: z.string().nullish(),
    source_branch: z.string(),
    last_commit: z.object({ id: z.string() }).nullish(),
    detailed_merge_status: z.string().nullish(),
    merge_status: z.string().nullish(),
  }),
});
export const NoteEvent = Common.extend({
  object_attributes: z.object({
    id: z.int(),
    note: z.string(),
    noteable_type: z.string(),
    action: z.string().nullish(),
    url: z.string(),
    type: z.string().nullish(),
    system: z.boolean().nullish(),
    position: z
      .object({ new_path: z.string().nullish(), new_line: z.int().nullish(), old_line: z.int().nullish() })
      .nullish(),
    st_diff: z.object({ diff: z.string().nullish() }).nullish(),
  }),
  issue: Described.nullish(),
  merge_request: Described.nullish(),
});
export const PipelineEvent = Common.extend({
  object_attributes: z.object({
    id: z.int(),
    ref: z.string().nullish(),
    tag: z.boolean().nullish(),
    sha: z.string(),
    status: z.string(),
    name: z.string().nullish(),
    url: z.string().nullish(),
  }),
  merge_request: z.object({ source_branch: z.string() }).nullish(),
  builds: z
    .array(z.object({ id: z.int(), name: z.string(), status: z.string(), allow_failure: z.boolean().nullish() }))
    .nullish(),
});
export const JobEvent = z.object({
  project: Project.nullish(),
  repository: z.object({ homepage: z.string().nullish() }).nullish(),
  ref: z.string().nullish(),
  tag: z.boolean().nullish(),
  sha: z.string(),
  build_id: z.int(),
  build_name: z.string(),
  build_status: z.string(),
  build_allow_failure: z.boolean().nullish(),
});
export const ProjectMoved = z.object({ path_with_namespace: z.string(), old_path_with_namespace: z.string() });
