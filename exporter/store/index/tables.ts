/** Changes with the tables or their content, also with what is kept as JSON: an index of another version is rebuilt. */
export const INDEX_VERSION = 6;

/** The columns of a run, in the order of `IndexedRun`'s keys; `stamp` identifies the run.json that was read. */
const RUNS = `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    damage TEXT,
    start TEXT,
    "end" TEXT,
    status TEXT,
    scenario TEXT,
    model TEXT,
    endpoint_type TEXT,
    load_mode TEXT,
    concurrency INTEGER,
    request_rate REAL,
    isl REAL,
    osl REAL,
    dataset TEXT,
    origin TEXT,
    system TEXT,
    system_version TEXT,
    tool TEXT,
    tool_version TEXT,
    group_id TEXT,
    step INTEGER,
    repeat INTEGER,
    fingerprint TEXT,
    tags TEXT,
    source_sha256 TEXT,
    missing_shards INTEGER,
    imported_at TEXT,
    import_position INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX runs_by_source ON runs (source_sha256) WHERE source_sha256 IS NOT NULL;`;

/** The result.json that the measures of a run were read from. */
const RESULTS = `
  CREATE TABLE results (run_id TEXT PRIMARY KEY, stamp TEXT NOT NULL, damage TEXT) WITHOUT ROWID;`;

/** Rows of one measure are adjacent: its history is one range of the file. */
const MEASURES = `
  CREATE TABLE measures (
    measure TEXT NOT NULL,
    run_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    unit TEXT,
    definition TEXT,
    origin TEXT,
    population TEXT,
    clock TEXT,
    kind TEXT,
    value REAL,
    n INTEGER,
    effective_n REAL,
    mean REAL,
    std REAL,
    min REAL,
    max REAL,
    p1 REAL, p5 REAL, p10 REAL, p25 REAL, p50 REAL, p75 REAL, p90 REAL, p95 REAL, p99 REAL, p99_9 REAL,
    PRIMARY KEY (measure, run_id, position)
  ) WITHOUT ROWID;
  CREATE INDEX measures_by_run ON measures (run_id);`;

/** What long-lived processes keep of a file of each run, as JSON; `stamp` identifies the file that was read. */
const KEPT = `
  CREATE TABLE kept (
    kind TEXT NOT NULL,
    run_id TEXT NOT NULL,
    stamp TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (kind, run_id)
  ) WITHOUT ROWID;`;

export const TABLES = `${RUNS}${RESULTS}${MEASURES}${KEPT}
  PRAGMA user_version = ${INDEX_VERSION};`;
