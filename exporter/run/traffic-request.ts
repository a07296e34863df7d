import type { ApiKeySource } from '../load/transports/api-key.ts';
import type { ConnectionOptions } from '../load/transports/connection-options.ts';
import type { DatasetRequest } from '../load/datasets/open-dataset.ts';
import type { EndpointType } from '../load/endpoints/endpoint-types.ts';

/** What is sent, to which servers and in which form, as the user configured it. */
export interface TrafficRequest {
  /** URLs in addition to the first one: servers are used round-robin. */
  readonly moreUrls: readonly string[];
  readonly connection: Omit<ConnectionOptions, 'urls'>;
  readonly apiKey: ApiKeySource;
  readonly endpointType: EndpointType;
  /** Path of the file, with the type `template`. */
  readonly endpointTemplate: string | null;
  /** Null: streamed if the endpoint supports it. */
  readonly stream: boolean | null;
  /** Null: none. */
  readonly tokenizer: { readonly name: string; readonly revision: string } | null;
  /** The tokenizer also counts the output of responses when the server reports a count; absent: no. */
  readonly checkUsage?: boolean;
  readonly dataset: Omit<DatasetRequest, 'seed' | 'repeat'>;
}
