export const CHAT_ROUTE = '/v1/chat/completions';

/** What Dynamo's label `endpoint` says of each API. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  [CHAT_ROUTE]: 'chat_completions',
  '/v1/completions': 'completions',
  '/v1/responses': 'responses',
  '/v1/embeddings': 'embeddings',
};

/** Whether requests by this path are counted. */
export const isEndpoint = (route: string): boolean => route in ENDPOINTS;

/** @throws Error for a path that is no API of the frontend */
export function endpointOf(route: string): string {
  const endpoint = ENDPOINTS[route];
  if (endpoint === undefined) throw new Error(`${route} is no API of Dynamo's frontend`);
  return endpoint;
}
