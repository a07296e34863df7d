import type { EngineParameters } from '../engine/parameters.ts';
import { checkWorkers } from '../faults/plan.ts';
import { RestartingServer } from '../faults/restarting-server.ts';
import { makeEmbeddings, poolingRoutes } from '../http/pooling.ts';
import { sendJson } from '../http/json-body.ts';
import { makeMessages } from '../http/messages.ts';
import { makeResponses } from '../http/responses.ts';
import { SimulatorServer } from '../http/server.ts';
import { makeTextCompletions } from '../http/completions.ts';
import { completionResponses } from '../dialects/dialect.ts';
import type { StartOptions, StartedSystem } from '../start.ts';
import { VllmProfile } from './profile.ts';

/** What differs from the simulator's defaults when all switches are on: CPU memory below the device, and a drafter. */
export const VLLM_PARAMETERS: Partial<EngineParameters> = {
  offloadTiers: [{ name: 'host', blocks: 24_576, loadMillisecondsPerBlock: 0.1 }],
  speculation: { draftTokens: 3, acceptanceRatio: 0.3 },
};

const COMPLETIONS = completionResponses(
  ['stop_reason', 'prompt_token_ids', 'token_ids'],
  ['stop_reason', 'token_ids', 'prompt_logprobs', 'prompt_token_ids'],
);

/** Of the release whose families these are. */
const VERSION = JSON.stringify({ version: '0.33.0' });

/** vLLM: everything on one port. */
export async function startVllm({ host, port: wanted, ...options }: StartOptions): Promise<StartedSystem> {
  const { model, parameters, faults, switches = true } = options;
  checkWorkers(faults, 1);
  const make = () =>
    new SimulatorServer({
      ...options,
      profile: new VllmProfile({ modelName: model, parameters, switches }),
      // vLLM has the last one with VLLM_SERVER_DEV_MODE=1, and answers 200 also when blocks were in use.
      makeRoutes: ({ api, backend, responding, counted }) => ({
        'GET /version': counted('/version', (response) => sendJson(response, 200, VERSION)),
        'POST /v1/completions': responding('/v1/completions', makeTextCompletions(api, COMPLETIONS)),
        'POST /v1/responses': responding('/v1/responses', makeResponses(api)),
        'POST /v1/messages': responding('/v1/messages', makeMessages(api)),
        // Of one that serves an embedding model or a reranker; here all are there.
        'POST /v1/embeddings': responding('/v1/embeddings', makeEmbeddings(api)),
        ...poolingRoutes({ api, responding }),
        'POST /reset_prefix_cache': counted('/reset_prefix_cache', (response) => {
          backend.resetPrefixCache?.();
          response.writeHead(200, { 'content-length': 0 }).end();
        }),
      }),
    });
  const server = new RestartingServer(make, faults.restart);
  const port = await server.listen(wanted, host);
  return { port, pages: [{ port, path: '/metrics' }], close: () => server.close() };
}
