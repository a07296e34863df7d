import type { ApiKeySource } from '../bench/api-key.ts';
import type { ConnectionOptions } from '../bench/connection-options.ts';
import type { DatasetRequest } from '../bench/datasets/open-dataset.ts';
import type { EndpointType } from '../bench/endpoints/endpoint-types.ts';

/** What is sent, where to and in which form, as a person said it. */
export interface TrafficRequest {
  /** URLs beside the first one: each server is asked in turn. */
  readonly moreUrls: readonly string[];
  readonly connection: Omit<ConnectionOptions, 'urls'>;
  readonly apiKey: ApiKeySource;
  readonly endpointType: EndpointType;
  /** Path of the file, with the type `template`. */
  readonly endpointTemplate: string | null;
  /** Null: streamed where the endpoint can. */
  readonly stream: boolean | null;
  /** Null: none. */
  readonly tokenizer: { readonly name: string; readonly revision: string } | null;
  /** The tokenizer also counts the output of answers whose server tells its tokens; absent: no. */
  readonly checkUsage?: boolean;
  readonly dataset: Omit<DatasetRequest, 'seed' | 'repeat'>;
}
