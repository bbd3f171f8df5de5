-- Cells whose slugs are all reserved in the directory; others are asked about each new slug (docs/cells.md).
-- up
create table cell_registrations (
  cell text collate "C" primary key,
  registered_at bigint not null
);
-- down
drop table cell_registrations;
