/** What the viewer has chosen; every other variable is at All. */
export interface Choice {
  readonly runId: string;
  /** The length of the dashboard's time range. */
  readonly rangeSeconds: number;
  readonly scrapeIntervalSeconds: number;
}

/** A query as Grafana sends it: its variables replaced. */
export function interpolate(text: string, { runId, rangeSeconds, scrapeIntervalSeconds }: Choice): string {
  const values: Readonly<Record<string, string>> = {
    __range: `${Math.ceil(rangeSeconds)}s`,
    // Grafana takes a rate over four scrapes at least.
    __rate_interval: `${4 * scrapeIntervalSeconds}s`,
    scrape_interval: `${scrapeIntervalSeconds}s`,
    run: runId,
    scenario: '.*',
    job: '.+',
    model: '.+',
    instance: '.+',
  };
  return text.replaceAll(/\$(\w+)/g, (variable, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${variable} is no variable of the dashboard`);
    return value;
  });
}
