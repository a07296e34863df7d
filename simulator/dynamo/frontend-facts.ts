import type { DynamoInstance } from './instance.ts';

/** Of the release whose families these are. */
const VERSION = '1.4.2';
const ENDPOINT = { namespace: 'dynamo', component: 'backend', endpoint: 'generate' };

/** The head of what the frontend answers to `GET /openapi.json`. */
export function frontendDescription(): string {
  const info = { title: 'NVIDIA Dynamo OpenAI Frontend', version: VERSION };
  return JSON.stringify({ openapi: '3.1.0', info, paths: {} });
}

/** `GET /health`: the instances in its discovery. */
export function frontendHealth(instances: readonly DynamoInstance[]): string {
  return JSON.stringify({
    status: 'healthy',
    endpoints: [`dyn://${Object.values(ENDPOINT).join('.')}`],
    instances: instances.map(({ hex }) => ({ ...ENDPOINT, instance_id: `0x${hex}`, transport: { tcp: '' } })),
  });
}
