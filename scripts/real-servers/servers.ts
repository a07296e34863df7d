import { dynamo, dynamoDisaggregated } from './dynamo/dynamo.ts';
import type { RealServer } from './real-server.ts';
import { sglangRouter, smg } from './sglang-gateway/sglang-gateway.ts';
import { triton } from './triton/triton.ts';
import { vllm, vllmWithImages, vllmWithinRay } from './vllm.ts';

export const REAL_SERVERS: readonly RealServer[] = [
  dynamo,
  dynamoDisaggregated,
  vllm,
  vllmWithImages,
  vllmWithinRay,
  triton,
  smg,
  sglangRouter,
];

/** The list of servers as usage texts show it. */
export const SERVER_LIST = REAL_SERVERS.map(({ name, description }) => `  ${name.padEnd(22)}${description}`).join('\n');

/** The server of this name. Throws when there is none. */
export function realServer(name: string): RealServer {
  const server = REAL_SERVERS.find((each) => each.name === name);
  if (server === undefined) {
    throw new Error(`unknown server '${name}': must be ${REAL_SERVERS.map((each) => each.name).join(', ')}`);
  }
  return server;
}
