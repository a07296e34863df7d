/** What the viewer has chosen; every other variable is at All. */
export interface Choice {
  readonly runId: string;
  /** Regular expression for the jobs of the servers. */
  readonly job: string;
  /** The length of the dashboard's time range. */
  readonly rangeSeconds: number;
  readonly scrapeIntervalSeconds: number;
  /** Variables with one value, such as an objective. */
  readonly values: Readonly<Record<string, string>>;
}

/** A query as Grafana sends it: its variables replaced. */
export function interpolate(text: string, { runId, job, rangeSeconds, scrapeIntervalSeconds, values }: Choice): string {
  const known: Readonly<Record<string, string>> = {
    __range: `${Math.ceil(rangeSeconds)}s`,
    // Grafana takes a rate over four scrapes at least.
    __rate_interval: `${4 * scrapeIntervalSeconds}s`,
    scrape_interval: `${scrapeIntervalSeconds}s`,
    run: runId,
    job,
    ...values,
  };
  // A digit: a group of a regular expression, as in `label_replace`.
  return text.replaceAll(/\$(?:([a-zA-Z_]\w*)|\{(\w+)\})/g, (variable, plain?: string, braced?: string) => {
    const value = known[plain ?? braced ?? ''];
    if (value === undefined) throw new Error(`${variable} is no variable of the dashboard`);
    return value;
  });
}
