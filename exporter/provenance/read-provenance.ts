import type { CommitFacts, Provenance } from '../../core/run/provenance.ts';
import { ciJob } from './ci-job.ts';
import { checkedOutCommit } from './commit.ts';
import { factText } from './fact-text.ts';
import { gpusOfExporters, gpusOfThisMachine } from './gpus.ts';
import { machineFacts } from './machine.ts';
import type { ProvenanceRequest } from './provenance-request.ts';
import { isThisMachine } from './this-machine.ts';
import { readServers, type AskedServers } from './read-servers.ts';

/** What was measured, from where and on whose behalf. Takes a few seconds at most, and never throws. */
export async function readProvenance(
  asked: AskedServers,
  { serverImage, gpuPrice, metadata }: ProvenanceRequest,
  environment: NodeJS.ProcessEnv,
): Promise<Provenance> {
  const { secrets, series } = asked;
  const { ci, commit } = ciJob(environment, secrets);
  const reported = gpusOfExporters(series);
  const isLocal = asked.servers.every(({ origin }) => isThisMachine(origin));
  const [servers, gpus, source_code] = await Promise.all([
    readServers(asked),
    reported.length > 0 || !isLocal ? reported : gpusOfThisMachine(),
    commit === null ? checkedOutCommit(process.cwd()) : ({ commit, dirty: null } satisfies CommitFacts),
  ]);
  const kept = Object.entries(metadata).map(([key, value]) => [key, factText(value, secrets) ?? ''] as const);
  return {
    servers,
    gpus,
    source_code,
    ci,
    server_image: factText(serverImage, secrets),
    gpu_price: gpuPrice,
    machine: machineFacts(),
    metadata: Object.fromEntries(kept),
  };
}
