-- Models that connectors name with their prices, and the price of each model call in progress as it was when the call was reserved.
-- up
alter table integrations add column models jsonb not null default '[]';
alter table model_calls add column price jsonb;
-- down
alter table model_calls drop column price;
alter table integrations drop column models;
