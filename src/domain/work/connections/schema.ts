// Words of connections in the graph.
import { wordSet } from '#graph/scalars.ts';
import { connectionPhases, connectionVerdicts } from './model.ts';

export const ConnectionPhase = wordSet('ConnectionPhase', connectionPhases, 'When a run asked for a connection.', {
  setup: 'While its environment was prepared.',
  agent: 'Afterwards, while an agent or a script worked.',
});
export const ConnectionVerdict = wordSet(
  'ConnectionVerdict',
  connectionVerdicts,
  'What became of a connection that a run asked for.',
  {
    allowed: 'It was made.',
    blocked: 'The network policy does not name the host.',
    not_public: 'The name leads to an address that is not public, which no policy allows.',
    unknown_host: 'The name could not be resolved.',
    failed: 'The host is allowed, and could not be reached.',
  },
);
