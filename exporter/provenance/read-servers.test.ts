import { describe, expect, test } from '@jest/globals';
import { SERVER_READERS, pageSettings, type ReadServer } from './read-servers.ts';

/** Answers as the real servers give them, shortened. */
function read(system: string, responses: Readonly<Record<string, unknown>>): Promise<ReadServer> | undefined {
  const ask = (path: string): Promise<unknown> => Promise.resolve(responses[path] ?? null);
  return SERVER_READERS[system]?.({ ask, model: 'org/m', secrets: ['planted-key'] });
}

describe('what a server reports about itself', () => {
  test.each([
    ['vllm', { '/version': { version: '0.11.1rc2.dev93+g1a2b3c4' } }, '0.11.1rc2.dev93+g1a2b3c4', {}],
    ['trtllm', { '/version': { version: '1.2.0' } }, '1.2.0', {}],
    ['sglang', { '/server_info': { version: '0.5.6', tp_size: 8 } }, '0.5.6', { tp_size: 8 }],
    [
      'smg',
      { '/get_server_info': { version: '0.5.6' }, '/workers': { workers: [], total: 2 } },
      'sglang-0.5.6',
      { workers: 2 },
    ],
    [
      'triton',
      {
        '/v2': { name: 'triton', version: '2.51.0', extensions: [] },
        '/v2/models/org%2Fm/config': { backend: 'vllm', max_batch_size: 8, parameters: { api_key: 'x' } },
      },
      '2.51.0',
      { backend: 'vllm', max_batch_size: 8, dynamic_batching: false },
    ],
    [
      'dynamo',
      {
        '/openapi.json': { info: { title: 'NVIDIA Dynamo OpenAI Frontend', version: '1.4.2' } },
        '/health': {
          instances: [
            { component: 'backend', endpoint: 'generate' },
            { component: 'backend', endpoint: 'generate' },
            { component: 'backend', endpoint: 'clear_kv_blocks' },
          ],
        },
      },
      '1.4.2',
      { instances_backend: 2 },
    ],
  ])('%s', async (system, responses, version, settings) => {
    expect(await read(system, responses)).toEqual({ version, settings });
  });

  test('is null when it answers nothing, or something else', async () => {
    for (const system of Object.keys(SERVER_READERS)) {
      const nothing = await read(system, {});
      expect([system, nothing?.version]).toEqual([system, null]);
    }
    expect(await read('vllm', { '/version': { version: '<html>sign in</html>' } })).toMatchObject({ version: null });
    expect(await read('vllm', { '/version': [1] })).toMatchObject({ version: null });
  });

  test('has only listed settings, without credentials', async () => {
    const info = {
      ...{ version: '0.5.6', api_key: 'planted-1', admin_api_key: 'planted-2', tp_size: 2, dtype: 'a'.repeat(5000) },
      ...{ model_path: 'https://u:planted-3@hub/m?token=planted-4', schedule_policy: 'planted-key', page_size: {} },
      env: { HF_TOKEN: 'planted-5' },
    };
    const response = await read('sglang', { '/get_server_info': info });
    expect(JSON.stringify(response)).not.toContain('planted');
    expect(Object.keys(response?.settings ?? {})).toEqual(['model_path', 'dtype', 'schedule_policy', 'tp_size']);
    expect(String(response?.settings['dtype']).length).toBeLessThanOrEqual(200);
  });
});

test("the engines' pages report settings; those of engines that differ are listed", () => {
  const engine = (labels: Readonly<Record<string, string>>) => ({
    ...{ target: 't', family: 'vllm:cache_config_info', value: 1 },
    labels: { sliding_window: 'None', model_token: 'planted', ...labels },
  });
  const series = [
    engine({ num_gpu_blocks: '10', block_size: '16' }),
    engine({ num_gpu_blocks: '12', block_size: '16' }),
  ];
  expect(pageSettings(series, [])).toEqual({ block_size: '16', num_gpu_blocks: '10 | 12' });
});
