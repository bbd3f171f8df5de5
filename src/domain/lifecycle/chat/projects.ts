// The project for a mission that is requested in a chat: named in the text, or bound to the channel.

import type { Id } from '#foundation/ids.ts';
import { ignoringCase } from '#foundation/postgres/reads.ts';
import { Project } from '../../projects/projects/model.ts';
import { ChatChannel } from '../../work/chat-threads/model.ts';

export interface ChosenProject {
  project: Project;
  /** The text without the name of the project. */
  text: string;
}

/** The project named in a message: `in shop: fix it`, or `in "My shop" fix it`. */
const leading = /^in\s+(?:"([^"]{1,120})"|“([^”]{1,120})”|([^\s:,]{1,120}))([:,]?)(?:\s+|$)/i;
/** Maximum number of projects that a reply lists, when it tells the author of a message which projects exist. */
const named = 10;

/** The project by its slug or name. */
export const findProjectNamed = async (orgId: Id<'organization'>, name: string): Promise<Project | undefined> =>
  (await Project.find({ orgId, slug: name.toLowerCase() })) ??
  (await Project.findAll({ orgId, name: ignoringCase(name) }))[0];

export async function chooseProject(
  { integrationId, channel }: { integrationId: string; channel: string },
  orgId: Id<'organization'>,
  words: string,
): Promise<ChosenProject | { refusal: string }> {
  const match = leading.exec(words);
  const name = match && (match[1] ?? match[2] ?? match[3])!;
  const project = name && (await findProjectNamed(orgId, name));
  if (project) return { project, text: words.slice(match[0].length).trim() };
  const { data: projects } = await Project.page({ orgId }, { limit: named });
  const known = projects
    .map(({ slug }) => slug)
    .sort()
    .join(', ');
  if (name && match[4]) return { refusal: `There is no project ${name}. The projects are: ${known || 'none yet'}.` };
  const bound = await ChatChannel.find({ integrationId: integrationId as never, channelId: channel });
  const own = bound && (await Project.find({ id: bound.projectId, orgId }));
  if (own) return { project: own, text: words };
  const [only] = projects;
  if (only && projects.length === 1) return { project: only, text: words };
  return {
    refusal:
      `This channel has no project. Begin with the name of one: “in ${projects[0]?.slug ?? 'shop'}: …”. The projects are: ${known || 'none yet'}. ` +
      'Owners and admins can bind the channel to a project with `/agent bind <project>`.',
  };
}
