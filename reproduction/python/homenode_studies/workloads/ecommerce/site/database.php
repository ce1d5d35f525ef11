<?php
/* Queries are files with :names in place of numbers; pgbench reads the same files. */

const FOLDER = '/srv/queries/';

function connection(): PgSql\Connection
{
    static $connection = null;
    $connection ??= pg_pconnect('host=/run/postgresql dbname=tpcw user=www');
    if ($connection === false) {
        http_response_code(503);
        exit("no database\n");
    }
    return $connection;
}

/* Runs a query and returns its rows. A failed query is a server error. */
function query(string $name, array $numbers): array
{
    static $known = [];
    if (!isset($known[$name])) {
        $names = [];
        $sql = preg_replace_callback('/(?<!:):([a-z]+)/', function ($found) use (&$names) {
            $place = array_search($found[1], $names);
            if ($place === false) {
                $place = count($names);
                $names[] = $found[1];
            }
            return '($' . ($place + 1) . '::integer)';
        }, file_get_contents(FOLDER . "$name.sql"));
        $known[$name] = [$sql, $names];
    }
    [$sql, $names] = $known[$name];
    $values = array_map(fn($name) => $numbers[$name], $names);
    $result = pg_query_params(connection(), $sql, $values);
    if ($result === false) {
        fail();
    }
    return pg_fetch_all($result);
}

function command(string $sql): void
{
    if (pg_query(connection(), $sql) === false) {
        fail();
    }
}

function fail(): never
{
    pg_query(connection(), 'ROLLBACK');
    http_response_code(500);
    exit("the database has refused\n");
}
