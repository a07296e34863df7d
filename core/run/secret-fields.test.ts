import { describe, expect, test } from '@jest/globals';
import { isSecretName, secretsOf, withoutSecrets } from './secret-fields.ts';

describe('names of fields', () => {
  test.each([
    ...[
      'api_key',
      'apiKey',
      'API-KEY',
      'apikey',
      'openai_api_key',
      'x-api-key',
      'key',
      'token',
      'hf_token',
      'authToken',
    ],
    ...[
      'X-Auth-Token',
      'password',
      'db.password',
      'Authorization',
      'proxy-authorization',
      'client_secret',
      'credentials',
    ],
    ...['extra_headers', 'access_key', 'private_key', 'auth', 'cookie'],
  ])('%s: a credential', (name) => expect(isSecretName(name)).toBe(true));

  test.each([
    ...['max_tokens', 'min_tokens', 'stop_token_ids', 'eos_token', 'pad_token', 'tokenizer', 'prompt_cache_key'],
    ...['ignore_eos', 'temperature', 'keyword', 'authority', 'secretary', 'logprobs', 'top_k', 'response_format', ''],
  ])('%p: none', (name) => expect(isSecretName(name)).toBe(false));
});

test('credentials are hidden at every depth, and nothing else', () => {
  const inputs = {
    ...{ api_key: 'planted-1', temperature: 0.5, ignore_eos: true, prompt_cache_key: 'a', empty: { token: '' } },
    nvext: { auth: { user: 'planted-2', roles: ['planted-3'], pin: 4711, on: true }, annotations: ['timing'] },
    note: 'sk-proj-planted0123456789',
    hook: { url: 'http://u:planted-6@h/x?k=planted-7', value: 'Bearer planted-5' },
  };
  const hidden = withoutSecrets(inputs);
  expect(hidden).toEqual({
    ...{ api_key: '***', temperature: 0.5, ignore_eos: true, prompt_cache_key: 'a', empty: { token: '' } },
    nvext: { auth: { user: '***', roles: ['***'], pin: '***', on: true }, annotations: ['timing'] },
    note: '***',
    hook: { url: 'http://***@h/x?***', value: '***' },
  });
  expect(secretsOf(inputs)).toEqual([
    ...['planted-1', 'planted-2', 'planted-3', '4711', 'sk-proj-planted0123456789', 'Bearer planted-5'],
  ]);
});

test.each(['hf_abcdefghijklmnopqrst', 'nvapi-abcdefghijklmnop01', 'eyJhbGciOi.eyJzdWIi.x', 'Basic dTpw'])(
  '%s is a credential by its form',
  (text) => expect(withoutSecrets([text])).toEqual(['***']),
);

test.each(['sk-1', 'skip this', 'basic', 'bearer', 'Basic'])('%s is none', (text) =>
  expect(withoutSecrets(text)).toBe(text),
);
