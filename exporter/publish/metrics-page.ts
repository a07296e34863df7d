/** One answer of `/metrics`. */
export interface Exposition<Body extends string | Buffer = string> {
  readonly contentType: string;
  readonly body: Body;
}

/** Something that can be scraped, by any number of scrapers at once: nothing is reset by reading it. */
export interface MetricsPage {
  /**
   * `accept` is the request's header: text 0.0.4 or OpenMetrics 1.0. A page that is kept comes as bytes, the same object
   * for as long as nothing changes.
   */
  render(accept: string | undefined): Promise<Exposition<string | Buffer>>;
}
