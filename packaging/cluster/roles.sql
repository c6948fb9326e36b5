-- The roles of a cluster: parley_owner creates and upgrades the tables, and the nodes use the role parley. Run it as a
-- superuser in the new database: psql -d parley -f roles.sql. Then give both roles their credentials, for instance with
-- \password, and let only these roles connect to the database. The name of the database is not known here:
--     REVOKE ALL ON DATABASE parley FROM PUBLIC;
--     GRANT CONNECT ON DATABASE parley TO parley_owner, parley;
CREATE ROLE parley_owner LOGIN;
CREATE ROLE parley LOGIN;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CREATE, USAGE ON SCHEMA public TO parley_owner;
GRANT USAGE ON SCHEMA public TO parley;

-- The tables that the owner creates, also those of later versions.
ALTER DEFAULT PRIVILEGES FOR ROLE parley_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO parley;
