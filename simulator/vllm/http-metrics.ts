import type { RespondedRequest } from '../server-profile.ts';
import type { VllmFamilies } from './families.ts';

/** What vLLM's HTTP front end counts (prometheus-fastapi-instrumentator): every response, also of streams cut short. */
export class VllmHttpMetrics {
  readonly #families: VllmFamilies;

  constructor(families: VllmFamilies) {
    this.#families = families;
    families.histogram('http_request_duration_highr_seconds').series();
  }

  observe({ handler, method, status, seconds, requestBytes, responseBytes }: RespondedRequest): void {
    const statusClass = `${Math.floor(status / 100)}xx`;
    this.#families.counter('http_requests_total').series({ handler, method, status: statusClass }).add(1);
    this.#families.summary('http_request_size_bytes').series({ handler }).observe(requestBytes);
    this.#families.summary('http_response_size_bytes').series({ handler }).observe(responseBytes);
    this.#families.histogram('http_request_duration_highr_seconds').series().observe(seconds);
    this.#families.histogram('http_request_duration_seconds').series({ handler, method }).observe(seconds);
  }
}
