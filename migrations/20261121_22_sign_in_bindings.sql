-- A sign-in code belongs to the browser that asked for it; its mail also carries a link. Bindings are digests of cookie secrets.
-- up
alter table sign_in_codes add column binding bytea;
-- One code per browser and address: a newer one takes the place of the older.
create unique index sign_in_codes_binding on sign_in_codes (email, binding);
-- Of links that were mailed: the browser that asked, and where it goes after sign-in.
alter table sign_in_links add column binding bytea, add column return_to text;
create index sign_in_links_binding on sign_in_links (email, binding);
-- down
drop index sign_in_links_binding;
alter table sign_in_links drop column return_to, drop column binding;
drop index sign_in_codes_binding;
alter table sign_in_codes drop column binding;
