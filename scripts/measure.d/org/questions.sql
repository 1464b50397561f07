-- Ten questions to an organisation, each behind a line with its name. :package is a library of it, :function the descriptors of one of its
-- functions, :name the name of that function. A SCIP symbol is `scheme manager package version descriptors`.
--
-- The text is the same in all engines, with three differences that the measurement makes for them:
--   SQLite has no split_part: a function of that name is registered. Its tables were loaded from the Parquet files.
--   Spark has "references" in double quotes with spark.sql.ansi.enabled and spark.sql.ansi.doubleQuotedIdentifiers.
--   DataFusion and Spark find the tables as directories, DuckDB as views over read_parquet.

-- callers: who calls a function, by repository and version. The range lets readers skip all that the order of the rows excludes.
SELECT repository, split_part(callee, ' ', 4) AS version, count(*) AS calls, count(DISTINCT path) AS files
FROM calls
WHERE callee >= 'cograph pip :package ' AND callee < 'cograph pip :package!' AND split_part(callee, ' ', 5) = ':function'
GROUP BY repository, split_part(callee, ' ', 4)
ORDER BY repository, version;

-- versions: which versions of a package are in use.
SELECT version, count(*) AS repositories, sum("references") AS uses
FROM packages
WHERE role = 'used' AND name = ':package'
GROUP BY version
ORDER BY repositories DESC, version;

-- removed: repositories that use names of a package which its newest sources define no more.
SELECT r.repository, split_part(r.target, ' ', 4) AS version, r.name, count(*) AS uses
FROM "references" r
WHERE r.target >= 'cograph pip :package ' AND r.target < 'cograph pip :package!' AND r.target_id IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM symbols s JOIN packages p ON p.repository = s.repository
    WHERE p.role = 'own' AND p.name = ':package' AND s.name = r.name)
GROUP BY r.repository, split_part(r.target, ' ', 4), r.name
ORDER BY uses DESC, r.repository, version, r.name
LIMIT 100;

-- unused: public functions, classes and methods of a package whose name no other repository uses with it.
SELECT s.path, s.line, s.name, s.kind
FROM symbols s JOIN packages p ON p.repository = s.repository
WHERE p.role = 'own' AND p.name = ':package' AND s.exported AND NOT s.test AND s.kind IN ('function', 'class', 'method')
  AND NOT EXISTS (
    SELECT 1 FROM "references" r
    WHERE r.target >= 'cograph pip :package ' AND r.target < 'cograph pip :package!' AND r.target_id IS NULL AND r.name = s.name)
ORDER BY s.path, s.line, s.name, s.kind;

-- fan_in: modules that most repositories import.
SELECT module, count(DISTINCT repository) AS repositories, count(*) AS imports
FROM imports
WHERE target_path IS NULL
GROUP BY module
ORDER BY repositories DESC, imports DESC, module
LIMIT 50;

-- two_levels: callers of the callers of a function.
SELECT outer_call.repository, outer_call.caller, count(*) AS calls
FROM calls inner_call
  JOIN calls outer_call ON outer_call.repository = inner_call.repository AND outer_call.callee_id = inner_call.caller_id
WHERE inner_call.callee >= 'cograph pip :package ' AND inner_call.callee < 'cograph pip :package!'
  AND split_part(inner_call.callee, ' ', 5) = ':function' AND outer_call.caller IS NOT NULL
GROUP BY outer_call.repository, outer_call.caller
ORDER BY outer_call.repository, outer_call.caller;

-- tests: calls of a repository, and those of them that are in test files.
SELECT c.repository, count(*) AS calls, sum(CASE WHEN f.test THEN 1 ELSE 0 END) AS in_tests
FROM calls c JOIN files f ON f.repository = c.repository AND f.path = c.path
GROUP BY c.repository
ORDER BY in_tests DESC, calls DESC, c.repository
LIMIT 100;

-- kinds: symbols by kind.
SELECT kind, count(*) AS symbols, sum(CASE WHEN exported THEN 1 ELSE 0 END) AS public
FROM symbols
GROUP BY kind
ORDER BY symbols DESC, kind;

-- idle: repositories that depend on a package and call nothing of it.
SELECT p.repository, p.version, p."references" AS uses
FROM packages p
WHERE p.role = 'used' AND p.name = ':package'
  AND NOT EXISTS (
    SELECT 1 FROM calls c
    WHERE c.repository = p.repository AND c.callee >= 'cograph pip :package ' AND c.callee < 'cograph pip :package!')
ORDER BY p.repository, p.version;

-- top: functions outside of their repository that are called by most repositories.
SELECT split_part(callee, ' ', 3) AS package, split_part(callee, ' ', 5) AS called, count(DISTINCT repository) AS repositories, count(*) AS calls
FROM calls
WHERE callee_id IS NULL
GROUP BY split_part(callee, ' ', 3), split_part(callee, ' ', 5)
ORDER BY repositories DESC, calls DESC, package, called
LIMIT 100;
