/**
 * Parameters of the host page.
 *
 * `/` is the panel, `/a/llmbench-observability-app/…` the app.
 *
 * - `query`, `format`: PromQL and time_series | heatmap | table, one or several; the last format holds for the rest
 * - `from`, `to`: milliseconds since 1970, or `range`: seconds that end now; `step`: seconds (default: range / width)
 * - `editor`: true for an editor of the panel, in which a query is entered and a suggestion chosen
 * - `annotation`: PromQL of run regions (default: llmbench_run_phase == 1; empty: none)
 * - `theme`: dark | light; `width`, `height`: pixels of the panel
 * - `role`: of the user in Grafana, Viewer | Editor | Admin (default: Admin)
 * - `without`: uid of a data source that Grafana does not have (prometheus, llmbench-runs)
 * - `options`, `defaults`: JSON of the panel's options and of its standard field options
 */
export type PageParameters = Record<string, string | number | readonly string[] | undefined>;

export function hostUrl(origin: string, parameters: PageParameters): string {
  const url = new URL('/', origin);
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) {
        url.searchParams.append(name, String(one));
      }
    }
  }
  return url.href;
}
