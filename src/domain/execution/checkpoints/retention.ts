// The runs that need the artifact of a checkpoint.

/** SQL query for the run whose checkpoint uses an artifact. */
export const runsOfCheckpointSql = (artifactId: string): string =>
  `select run_id from checkpoints where artifact_id = ${artifactId}`;

/** SQL query for the artifacts of the checkpoints of steps. @param stepIds SQL query for the ids of the steps */
export const artifactsOfStepsSql = (stepIds: string): string =>
  `select artifact_id from checkpoints where step_id in (${stepIds})`;

/** SQL query for the artifacts that hold the checkpoints of several runs. @param runIds SQL for an array of ids */
export const checkpointsOfRunsSql = (runIds: string): string =>
  `select artifact_id from checkpoints where run_id = any(${runIds})`;
