/** Links and bookmarks name the dashboard by it: it never changes. */
export const UID = 'llmbench-benchmark';
