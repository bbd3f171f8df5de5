-- Jobs at the source host: reactions to events, and statuses of the commits of missions.
-- up
select background.create_queue('reaction', '{"policy": "standard"}');
select background.create_queue('commit status', '{"policy": "standard"}');
-- down
select background.delete_queue('reaction');
select background.delete_queue('commit status');
