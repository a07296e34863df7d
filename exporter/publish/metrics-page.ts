/** One answer of `/metrics`. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** Something that can be scraped, by any number of scrapers at once: nothing is reset by reading it. */
export interface MetricsPage {
  /** `accept` is the request's header: text 0.0.4 or OpenMetrics 1.0. */
  render(accept: string | undefined): Promise<Exposition>;
}
