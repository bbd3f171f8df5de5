// The initial tabs of GraphiQL: one operation for each common task. A test validates them against the schema.

export interface ExampleQuery {
  query: string;
  variables?: string;
}

export const exampleQueries: readonly ExampleQuery[] = [
  {
    query: `# A person who is signed in to the console needs no token.
# Everyone else adds one under Headers:  { "authorization": "Bearer pat_…" }

query WhoAmI {
  me {
    organization {
      id
      name
    }
    principalType
    role
    scopes
  }
}
`,
  },
  {
    query: `# The projects, newest first, each with its newest missions, in one request.

query Projects {
  projects(limit: 10) {
    data {
      id
      name
      status
      runs {
        id
        status
        missionTitle
      }
    }
    nextCursor
  }
}
`,
  },
  {
    query: `# One run with its sandboxes and artifacts. Enter an id under Variables.

query Run($runId: String!) {
  run(runId: $runId) {
    status
    missionActivity
    missionCostUsd
    lastError
    sandboxes {
      sandboxId
      status
      lastCpuPct
      lastMemUsedMb
    }
    artifacts {
      id
      kind
      caption
    }
  }
}
`,
    variables: '{ "runId": "" }',
  },
  {
    query: `# Creates a project. It needs a token with the scope projects:write (Headers).

mutation CreateProject($input: CreateProjectRequest!) {
  createProject(input: $input) {
    id
    slug
    missingConnectorKinds
  }
}
`,
    variables:
      '{\n  "input": {\n    "name": "Web shop",\n    "repoFullName": "acme/shop",\n    "issueCode": "WEB"\n  }\n}',
  },
  {
    query: `# Sends the run now and after each change, until it has finished.

subscription RunUpdated($runId: String!) {
  runUpdated(runId: $runId) {
    status
    missionProgress
    missionActivity
    finishedAt
  }
}
`,
    variables: '{ "runId": "" }',
  },
];
