import { expect, test } from '@jest/globals';
import { chat } from '../endpoints/openai.ts';
import { parseTarget } from './target.ts';

const PATH = '/v1/chat/completions';
const AZURE = '/openai/deployments/gpt';

/** As `TargetApi`. */
const api = (type: string, path: string): { type: string; path: string } => ({ type, path });
const TRITON = api('triton_generate', '/v2/models/m/generate_stream');

test.each([
  ['http://h:8000', 'http://h:8000', PATH, '/v1/models', ''],
  ['h:8000', 'http://h:8000', PATH, '/v1/models', ''],
  ['https://h/v1/', 'https://h', PATH, '/v1/models', ''],
  ['http://h/proxy/v1', 'http://h', `/proxy${PATH}`, '/proxy/v1/models', '/proxy'],
  ['http://h/team-a', 'http://h', `/team-a${PATH}`, '/team-a/v1/models', '/team-a'],
  [`http://h:1${PATH}`, 'http://h:1', PATH, '/v1/models', ''],
  [`http://h:1${PATH}/`, 'http://h:1', PATH, '/v1/models', ''],
  ['http://[::1]:8000?version=2', 'http://[::1]:8000', `${PATH}?version=2`, '/v1/models?version=2', ''],
  // Paths of services, by their documentation of 2026-11.
  [
    `https://r.openai.azure.com${AZURE}/chat/completions?api-version=2024-10-21`,
    ...['https://r.openai.azure.com', `${AZURE}/chat/completions?api-version=2024-10-21`],
    ...[`${AZURE}/models?api-version=2024-10-21`, AZURE],
  ],
  [
    `https://r.openai.azure.com${AZURE}?api-version=1`,
    ...[
      'https://r.openai.azure.com',
      `${AZURE}/chat/completions?api-version=1`,
      `${AZURE}/models?api-version=1`,
      AZURE,
    ],
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/',
    ...['https://generativelanguage.googleapis.com', '/v1beta/openai/chat/completions', '/v1beta/openai/models', ''],
  ],
  [
    'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    ...['https://generativelanguage.googleapis.com', '/v1beta/openai/chat/completions', '/v1beta/openai/models', ''],
  ],
  [
    'https://w.databricks.com/serving-endpoints/llama/invocations',
    ...['https://w.databricks.com', '/serving-endpoints/llama/invocations', '/serving-endpoints/llama/v1/models'],
    '/serving-endpoints/llama',
  ],
  [
    'https://w.databricks.com/serving-endpoints',
    ...['https://w.databricks.com', '/serving-endpoints/chat/completions', '/serving-endpoints/models'],
    '/serving-endpoints',
  ],
  ['https://api.groq.com/openai/v1', 'https://api.groq.com', `/openai${PATH}`, '/openai/v1/models', '/openai'],
  ['https://ark.volces.com/api/v3', 'https://ark.volces.com', '/api/v3/chat/completions', '/api/v3/models', '/api'],
  ['https://api.deepseek.com/chat/completions', 'https://api.deepseek.com', '/chat/completions', '/models', ''],
  [
    'https://aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi/chat/completions',
    'https://aiplatform.googleapis.com',
    '/v1/projects/p/locations/l/endpoints/openapi/chat/completions',
    ...['/v1/projects/p/locations/l/endpoints/openapi/models', '/v1/projects/p/locations/l/endpoints/openapi'],
  ],
])('%s', (url, origin, path, modelsPath, prefix) => {
  expect(parseTarget(url, chat)).toEqual({ origin, path, modelsPath, prefix });
});

test.each([
  ['http://h/v1/completions', api('completions', '/v1/completions'), '/v1/completions'],
  ['http://h/gw/v1/embeddings', api('embeddings', '/v1/embeddings'), '/gw/v1/embeddings'],
  ['http://h/openai/responses?x=1', api('responses', '/v1/responses'), '/openai/responses?x=1'],
  ['http://h/v1', api('sglang_generate', '/generate'), '/generate'],
  ['http://h/engine/generate', api('sglang_generate', '/generate'), '/engine/generate'],
  ['http://h/v2/models/other/generate_stream', TRITON, '/v2/models/other/generate_stream'],
  ['http://h/v1/chat/completions', api('template', '/ask'), '/v1/chat/completions/ask'],
  ['http://h/x/ask', api('template', '/ask'), '/x/ask'],
])('%s of another type', (url, given, path) => {
  expect(parseTarget(url, given).path).toBe(path);
});

test.each([
  ['http://h/v1/completions', chat, /ends in \/completions, .* set --endpoint-type completions, or/],
  ['http://h/v1/chat/completions', api('completions', '/v1/completions'), /set --endpoint-type chat, or/],
  ['http://h/generate', chat, /set --endpoint-type sglang_generate, or/],
  ['http://h/v2/models/m/generate', TRITON, /set --no-streaming, or/],
  [
    'http://h/v2/models/m/generate_stream',
    api('triton_generate', '/v2/models/m/generate'),
    /remove --no-streaming, or/,
  ],
])('%s names another endpoint', (url, given, message) => {
  expect(() => parseTarget(url, given)).toThrow(message);
});

test.each([
  ['http://h', '/my/chat', '/my/chat', '/v1/models'],
  ['http://h/v1beta/openai', '/chat/completions', '/v1beta/openai/chat/completions', '/v1beta/openai/models'],
  ['http://h/team-a/v1', '/v1/chat/completions', '/team-a/v1/chat/completions', '/team-a/v1/models'],
  ['http://h', '/v1/chat/completions/', '/v1/chat/completions/', '/v1/models'],
  ['http://h?api-key=a', '/x?v=1', '/x?api-key=a&v=1', '/v1/models?api-key=a&v=1'],
])('%s with --endpoint-path %s', (url, endpointPath, path, modelsPath) => {
  expect(parseTarget(url, chat, endpointPath)).toMatchObject({ path, modelsPath });
});

test.each([
  ['ftp://h', 'scheme is ftp'],
  ['http://', 'not a URL'],
  ['', 'not a URL'],
  ['ht!tp://x', 'not a URL'],
  ['http:/x', 'not a URL'],
  ['https//x:8000', 'not a URL'],
  ['HTTP:x', 'not a URL'],
  ['http://h:99999', 'not a URL'],
  ['http://me:secret@h', 'user name or password'],
])('%s is refused', (url, message) => {
  expect(() => parseTarget(url, chat)).toThrow(message);
  expect(() => parseTarget(url, chat)).not.toThrow('secret');
});
