/** Every panel, variable and annotation asks the Prometheus that the viewer has chosen; no uid is fixed. */
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const;

/**
 * The distance of two scrapes, from the variable of that name: the smallest step of each query, and so the base of
 * `$__rate_interval`. The data source's own setting (15 s as it is installed) is too long for short runs.
 */
export const SCRAPE_INTERVAL = '$scrape_interval';

/** Links and bookmarks name the dashboard by it: it never changes. */
export const UID = 'llmbench-benchmark';
