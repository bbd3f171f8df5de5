-- Reviews: people judge the change on the branch of a mission, with comments on its lines.
-- up
create table reviews (
  id text collate "C" primary key,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  -- The run whose change was reviewed; the runs of one branch share its reviews.
  run_id text collate "C" not null references runs on delete cascade,
  branch text not null,
  head_sha text not null,
  -- A word of the program, which grows without a migration.
  verdict text not null,
  body text not null,
  author_user_id text collate "C" references people on delete set null,
  author text not null,
  -- The run that answers a request for changes; null for other verdicts.
  answering_run_id text collate "C" references runs on delete set null,
  -- The sender's own id: a repeated request stores one review.
  key text,
  created_at bigint not null,
  unique (run_id, key)
);
create index reviews_branch on reviews (project_id, branch, created_at);
create index reviews_organization on reviews (org_id);
create index reviews_author on reviews (author_user_id);
create index reviews_answering_run on reviews (answering_run_id);

create table review_comments (
  id text collate "C" primary key,
  review_id text collate "C" not null references reviews on delete cascade,
  org_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  -- Position among the comments of the review.
  seq integer not null,
  path text not null,
  -- `old` or `new`: the version of the file that the lines are in.
  side text not null,
  start_line integer not null,
  line integer not null,
  -- The lines as the reviewer saw them.
  quote text not null,
  body text not null,
  resolved_at bigint,
  resolved_by text,
  created_at bigint not null,
  unique (review_id, seq)
);
create index review_comments_organization on review_comments (org_id);
create index review_comments_project on review_comments (project_id);
-- down
drop table review_comments, reviews;
